// What a file that no reader recognizes looks like, so that its refusal can say so.
#pragma once

#include "io/reader.hpp"

#include <string>
#include <string_view>

namespace kith::io {

/// A clause: "this looks like Gadget-2 binary (format 1), which is not read yet".
[[nodiscard]] std::string describe_unread(const FileStart& start);

/// Whether no byte is a control character other than white space.
[[nodiscard]] bool is_text(std::string_view text);

/// Whether the first line is that of an AHF or Rockstar catalog. These are tables, but not of particles.
[[nodiscard]] bool is_halo_catalog(std::string_view text);

} // namespace kith::io
