// The cell of the curve that holds all points of a frame, from their bounds alone: for the keys that devices sort by.
#pragma once

#include "order/order.hpp"
#include "points/frame.hpp"

#include <array>

namespace kith::detail {

struct RootCell {
    int top_exponent = 0;  ///< of the topmost bit in which points differ; any, if they are all in one place
    int sign_exponent = 0; ///< one bit above the largest exponent of any coordinate
};

/// The corners of points in the frame.
template <Coordinate T, int D>
struct Corners {
    std::array<T, D> least{};
    std::array<T, D> greatest{};
};

/// For points with these bounds; `wraps` says that some lie outside a periodic axis.
template <Coordinate T, int D>
KITH_HOST_DEVICE Corners<T, D> corners_of(const Frame<T>& frame, const std::array<T, max_dimension>& lower,
                                          const std::array<T, max_dimension>& upper, bool wraps) noexcept {
    Corners<T, D> corners;
    for (int axis = 0; axis < D; ++axis) {
        const bool fills_period = wraps && frame.period[axis] > 0;
        corners.least[axis] = frame.load(fills_period ? frame.origin[axis] : lower[axis], axis);
        corners.greatest[axis] = frame.load(fills_period ? frame.last_inside(axis) : upper[axis], axis);
    }
    return corners;
}

template <Coordinate T, int D>
KITH_HOST_DEVICE RootCell cell_of(const Corners<T, D>& corners) noexcept {
    const int sign_exponent = sign_exponent_of<T, D>(corners.least, corners.greatest);
    const Split top = split_of<T, D>(corners.least, corners.greatest, sign_exponent);
    return {top.exponent == coincident ? 0 : top.exponent, sign_exponent};
}

} // namespace kith::detail
