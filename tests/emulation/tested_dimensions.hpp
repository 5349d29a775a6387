// The dimensions that tests on the emulated device are compiled for: those that suites run over (support/cases.hpp).
#pragma once

#include "support/dimension.hpp"

#include <type_traits>
#include <utility>

namespace kith::test {

/// 2, 3 and 6, as far as they are built; all that are built if none of these is.
constexpr bool is_tested(int dimension) {
    const auto is_usual = [](int d) { return d == 2 || d == 3 || d == 6; };
    bool any_usual = false;
    for (const int d : {2, 3, 6}) {
        any_usual = any_usual || detail::dimension_is_built(d);
    }
    return detail::dimension_is_built(dimension) && (is_usual(dimension) || !any_usual);
}

/// Calls function(std::integral_constant<int, D>) for the run-time dimension, which is a tested one.
template <class Function>
void with_tested_dimension(int dimension, const Function& function) {
    [&]<int... D>(std::integer_sequence<int, D...>) {
        const auto attempt = [&]<int Each>(std::integral_constant<int, Each> constant) {
            if constexpr (is_tested(Each)) {
                if (dimension == Each) {
                    function(constant);
                }
            }
        };
        (attempt(std::integral_constant<int, D + 2>{}), ...);
    }
    (std::make_integer_sequence<int, max_dimension - 1>{});
}

} // namespace kith::test
