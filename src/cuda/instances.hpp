// From the type and the dimension of a call's points to the instance that is compiled for them, and what all calls check.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>

#include "cuda/namespace.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <cstdint>
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

/// Where comparing all with all beats building a tree, by the instructions that both are expected to take, not by a
/// measurement: a warp compares a query with 32 points in about 20, while a tree is some forty kernels, however small.
inline bool brute_force_pays(std::int64_t points, std::int64_t rows) {
    constexpr std::int64_t most_pairs = std::int64_t{1} << 27;
    return rows * points <= most_pairs;
}

inline void require_same_device(const PointsView& view, const Execution& execution, const char* what) {
    if (view.device().kind == DeviceKind::cuda && view.device() != execution.device) {
        throw Error(ErrorKind::invalid_argument,
                    message(what, " are in the memory of GPU ", view.device().index, ", but the call runs on GPU ",
                            execution.device.index, "; run it there or copy them"));
    }
}

} // namespace kith::detail::inline KITH_GPU
