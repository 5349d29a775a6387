// What can be said of a search for groups without looking at the points.
#pragma once

#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "support/message.hpp"

#include <cmath>
#include <cstdint>
#include <span>

namespace kith::detail {

inline void check_length(const LinkingLength& length) {
    if (!(length.value() >= 0) || std::isinf(length.value())) {
        throw Error(ErrorKind::invalid_argument,
                    message(length.is_relative() ? "the relative linking length b" : "the linking length", " is ",
                            length.value(), "; it must be a finite number, 0 or more"));
    }
}

inline void check_labels(std::span<const std::int32_t> labels, std::int64_t points) {
    if (static_cast<std::int64_t>(labels.size()) != points) {
        throw Error(ErrorKind::invalid_argument, message("the memory for labels holds ", labels.size(), " of them; ",
                                                         points, " points need one each"));
    }
}

} // namespace kith::detail
