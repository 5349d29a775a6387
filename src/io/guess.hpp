// What a file that no reader recognises looks like, so that its refusal can say so.
#pragma once

#include "io/reader.hpp"

#include <string>

namespace kith::io {

/// A clause: "this looks like Gadget-2 binary (format 1), which is not read yet".
[[nodiscard]] std::string describe_unread(const FileStart& start);

} // namespace kith::io
