// From run-time scalar types and dimensions to compile-time ones.
#pragma once

#include <kith/error.hpp>
#include <kith/types.hpp>

#include "support/message.hpp"

#include <string>
#include <type_traits>
#include <utility>

namespace kith::detail {

/// Whether this build has the dimension (the CMake option KITH_DIMS).
constexpr bool dimension_is_built(int dimension) {
    return dimension >= 2 && dimension <= max_dimension && ((KITH_DIMENSION_MASK >> dimension) & 1) != 0;
}

/// Throws unsupported: naming the limit, or within it the dimensions that are built.
inline void require_dimension(int dimension) {
    if (dimension_is_built(dimension)) {
        return;
    }
    if (dimension < 2 || dimension > max_dimension) {
        throw error(ErrorKind::unsupported, "points have ", dimension, dimension == 1 ? " dimension" : " dimensions",
                    "; this call takes points of 2 to ", max_dimension, " dimensions, one point per row",
                    dimension == 1
                        ? "; for points on a line add a column of zeros, which leaves distances as they are, but "
                          "makes volumes and densities those of a plane"
                    : dimension > max_dimension ? "; if the rows are the axes, transpose the array"
                                                : "");
    }
    std::string built;
    for (int d = 2; d <= max_dimension; ++d) {
        if (dimension_is_built(d)) {
            built += built.empty() ? message(d) : message(", ", d);
        }
    }
    throw error(ErrorKind::unsupported, "points have ", dimension, " dimensions; of the 2 to ", max_dimension,
                " that kith takes, this build has only ", built,
                "; build kith without the CMake option KITH_DIMS, and it has all");
}

/// Calls function(std::integral_constant<int, D>) for the run-time dimension. One the build lacks never gets here.
template <class Function>
void with_dimension(int dimension, Function&& function) {
    const auto attempt = [&]<int D>(std::integral_constant<int, D> constant) {
        if constexpr (dimension_is_built(D)) {
            if (dimension == D) {
                function(constant);
            }
        }
    };
    [&]<int... D>(std::integer_sequence<int, D...>) {
        (attempt(std::integral_constant<int, D + 2>{}), ...);
    }
    (std::make_integer_sequence<int, max_dimension - 1>{});
}

/// Calls function.operator()<D, Periodic>() for points of a run-time dimension, in a box that is periodic on any axis.
template <class Function>
void with_space(int dimension, bool periodic, const Function& function) {
    with_dimension(dimension, [&]<int D>(std::integral_constant<int, D>) {
        periodic ? function.template operator()<D, true>() : function.template operator()<D, false>();
    });
}

/// Calls function(T{}) for the run-time scalar type and returns what it returns.
template <class Function>
decltype(auto) with_dtype(DType dtype, Function&& function) {
    return dtype == DType::float32 ? function(float{}) : function(double{});
}

} // namespace kith::detail
