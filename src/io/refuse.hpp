// The one way in which readers and writers refuse a file, and short names for the texts of other errors.
#pragma once

#include "support/message.hpp"

#include <kith/error.hpp>

#include <string_view>

namespace kith::io {

using detail::error;
using detail::message;

/// Throws Error(file): the name of the file, ": ", and the parts as message() joins them.
template <class... Parts>
[[noreturn]] void refuse(std::string_view file, const Parts&... parts) {
    throw error(ErrorKind::file, file, ": ", parts...);
}

} // namespace kith::io
