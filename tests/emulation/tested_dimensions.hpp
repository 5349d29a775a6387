// The dimensions that the code for GPUs is compiled for here (the CMake option KITH_EMULATED_DIMS).
#pragma once

#include <kith/types.hpp>

#include "cuda/instances.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

namespace kith::test {

/// Calls function(std::integral_constant<int, D>) for the run-time dimension, which is a tested one.
template <class Function>
void with_tested_dimension(int dimension, const Function& function) {
    if (!detail::dimension_is_on_device(dimension)) {
        GTEST_FAIL() << "dimension " << dimension << " is not in KITH_EMULATED_DIMS; leave such tests out";
    }
    [&]<int... D>(std::integer_sequence<int, D...>) {
        const auto attempt = [&]<int Each>(std::integral_constant<int, Each> constant) {
            if constexpr (detail::dimension_is_on_device(Each)) {
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
