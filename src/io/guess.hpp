// What a file that no reader recognizes looks like, so that its refusal can say so.
#pragma once

#include "io/reader.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kith::io {

/// A clause: "this looks like Gadget-2 binary (format 1), which is not read yet".
[[nodiscard]] std::string describe_unread(const FileStart& start);

/// The same of a file whose first bytes are those of another format.
[[nodiscard]] std::optional<std::string> describe_signature(std::string_view text);

/// The same of a text of a known kind that is no table, though some tables look like it.
[[nodiscard]] std::optional<std::string> describe_known_text(std::string_view text);

/// Whether no byte is a control character other than white space.
[[nodiscard]] bool is_text(std::string_view text);

} // namespace kith::io
