// From the type and the dimension of a call's points to the instance that is compiled for them.
#pragma once

#include <kith/types.hpp>

#include "cuda/namespace.hpp"
#include "support/dimension.hpp"

#include <utility>

namespace kith::detail::inline KITH_GPU {

constexpr bool dimension_is_on_device(int dimension) {
    return dimension >= 2 && dimension <= max_dimension && ((KITH_CUDA_DIMENSION_MASK >> dimension) & 1) != 0;
}

/// Calls function.operator()<T, D>() for the points' type and dimension.
template <class Function>
void with_instance(DType dtype, int dimension, const Function& function) {
    with_dtype(dtype, [&]<Coordinate T>(T) {
        [&]<int... D>(std::integer_sequence<int, D...>) {
            const auto attempt = [&]<int Each>(std::integral_constant<int, Each>) {
                if constexpr (dimension_is_on_device(Each)) {
                    if (dimension == Each) {
                        function.template operator()<T, Each>();
                    }
                }
            };
            (attempt(std::integral_constant<int, D + 2>{}), ...);
        }
        (std::make_integer_sequence<int, max_dimension - 1>{});
    });
}

} // namespace kith::detail::inline KITH_GPU
