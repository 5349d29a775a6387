// The one way in which readers and writers refuse a file.
#pragma once

#include "support/message.hpp"

#include <kith/error.hpp>

#include <string_view>

namespace kith::io {

/// Throws Error(file): the name of the file, ": ", and the parts as message() joins them.
template <class... Parts>
[[noreturn]] void refuse(std::string_view file, const Parts&... parts) {
    throw Error(ErrorKind::file, detail::message(file, ": ", parts...));
}

} // namespace kith::io
