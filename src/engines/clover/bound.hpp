// What the triangle inequality says of a cell, in spite of rounding.
//
// Problem: a hub is at least D from every point p of a cell, and at most r from a query q. So d(q, p) >= D - r; but D
// and r are rounded, and so is the squared distance of q and p, with which this is compared. Method: with u half the
// spacing of numbers at 1 and n axes,
//     l = D (1 - c u) - r (1 + c u) - e,    c = ceil(n/2) + 5,    e = 5 u sqrt(sum of L^2 over the periodic axes) + f,
// and nothing of the cell is within a squared distance s if l > 0 and l^2 (1 - (n + 7) u) > s.
// Derivation, to first order in u, where every constant leaves room for the rest:
// - The distance along an axis is |q - p| (1 + u), or L minus that, rounded: wrong by at most u L, which is not small
//   beside it for points near opposite faces. So the root of the sum over axes is wrong by u d + u sqrt(sum of L^2).
// - n roundings of the sum make n/2 of its root, which is rounded once: a computed distance is the true one times
//   1 +- (n/2 + 2) u, +- u sqrt(sum of L^2). This holds for D and r; for q and p the second part, and u d, count once
//   more. Together n/2 + 3 for D, n/2 + 1 for r, and 3 u sqrt(sum of L^2).
// - The evaluation of l rounds its factors and products, 2 u more for each, and its differences, 2 u of l. Twice that
//   and two more roundings for the square, and the n of the squared distance itself: n + 6.
// - Squares below the normal numbers lose digits, each operation half the smallest number at most: a computed distance
//   is wrong by less than the root of n halves, three of them by less than f.
// Source: CLOVER (ICS 2025), section 3, for the inequality; the slack is derived here.
#pragma once

#include "points/frame.hpp"

#include <cmath>
#include <limits>

namespace kith::detail {

template <Coordinate T>
class TriangleBound {
public:
    explicit TriangleBound(const Frame<T>& frame) {
        const double u = std::numeric_limits<T>::epsilon() / 2.0;
        const double c = (frame.dimension + 1) / 2 + 5; // NOLINT(bugprone-integer-division): ceil(n/2)
        double squared_periods = 0;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            if (frame.period[axis] > 0) {
                const auto period = static_cast<double>(frame.working_period[axis]);
                squared_periods += period * period;
            }
        }
        const int smallest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits; // power of two
        shrink_ = static_cast<T>(1 - c * u);
        grow_ = static_cast<T>(1 + c * u);
        slack_ = static_cast<T>(5 * u * std::sqrt(squared_periods) + std::ldexp(1.0, smallest / 2 + 4));
        square_ = static_cast<T>(1 - (frame.dimension + 7) * u);
    }

    /// Whether points that are `weight` or more from a hub all lie beyond a squared distance from queries that are
    /// `radius` or less from it.
    [[nodiscard]] KITH_HOST_DEVICE bool is_beyond(T weight, T radius, T squared_distance) const noexcept {
        const T least = (weight * shrink_ - radius * grow_) - slack_;
        return least > 0 && least * least * square_ > squared_distance;
    }

private:
    T shrink_; ///< exact
    T grow_;
    T slack_;
    T square_;
};

} // namespace kith::detail
