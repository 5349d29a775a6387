// The refusal of a number that is too small, which many arguments share.
#pragma once

#include "support/message.hpp"

#include <string_view>
#include <type_traits>

namespace kith::detail {

/// Throws invalid_argument for a number below the least, or NaN. `rule`: what it must be, if not just that or more.
template <class Number>
void require_at_least(std::type_identity_t<Number> least, const char* name, Number value, std::string_view rule = {}) {
    if (value >= least) {
        return;
    }
    if (rule.empty()) {
        throw error(ErrorKind::invalid_argument, of_value(value), name, " is ", value, "; it must be ", least,
                    " or more");
    }
    throw error(ErrorKind::invalid_argument, of_value(value), name, " is ", value, "; it must be ", rule);
}

} // namespace kith::detail
