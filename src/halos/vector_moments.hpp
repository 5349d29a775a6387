// Moments of one vector, position or velocity, over the members of a group, and what each of four passes collects.
//
// The bounds of one pass give the units of the fixed-point sums of the next: VectorBounds, then VectorSums, from these
// the mean; then SpreadBounds and SumPart of the squared distances from the mean. All are minima, maxima and integer
// sums, so parts are joined in any order with the same bits. A part is joined with one that lies elsewhere through
// `bring`, which fetches a number of it: a kernel's lanes join theirs so.
//
// The CPU and the GPU share this text. Source: jz-tree paper, section IV-B.
#pragma once

#include "halos/terms.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kith::detail::halos {

/// What is known so far of one vector of one group's members, on up to D axes.
template <int D>
struct VectorMoments {
    double reference[D]; ///< what the offsets are from
    double lower[D];
    double upper[D];
    int exponent[D]; ///< the largest of its products with weights
    double mean[D];
    SquareUnit unit;
    double largest_square; ///< in squares of the unit
    int square_exponent;   ///< the largest of its products with weights
    double root_mean_square;
};

/// First pass: where the members are, and the largest exponents of the terms of the sums.
template <int D>
struct VectorBounds {
    double lower[D];
    double upper[D];
    int exponent[D];

    KITH_HOST_DEVICE VectorBounds() noexcept {
        for (int axis = 0; axis < D; ++axis) {
            lower[axis] = std::numeric_limits<double>::infinity();
            upper[axis] = -std::numeric_limits<double>::infinity();
            exponent[axis] = no_product;
        }
    }
    template <class Bring = InPlace>
    KITH_HOST_DEVICE void join(const VectorBounds& other, const Bring& bring = {}) noexcept {
        for (int axis = 0; axis < D; ++axis) {
            lower[axis] = std::min(lower[axis], bring(other.lower[axis]));
            upper[axis] = std::max(upper[axis], bring(other.upper[axis]));
            exponent[axis] = std::max(exponent[axis], bring(other.exponent[axis]));
        }
    }
    KITH_HOST_DEVICE void conclude(VectorMoments<D>& moments, int dimension) const noexcept {
        double largest = 0;
        for (int axis = 0; axis < dimension; ++axis) {
            moments.lower[axis] = lower[axis];
            moments.upper[axis] = upper[axis];
            moments.exponent[axis] = exponent[axis];
            largest = std::max(largest, largest_between(lower[axis], upper[axis]));
        }
        moments.unit = SquareUnit(largest);
    }
};

/// Second: the weighted sums, which give the mean.
template <int D>
struct VectorSums {
    FixedSum sum[D];

    VectorSums() = default;
    KITH_HOST_DEVICE VectorSums(const VectorMoments<D>& moments, int dimension, std::int64_t members) noexcept {
        for (int axis = 0; axis < dimension; ++axis) {
            sum[axis] = FixedSum(moments.exponent[axis], members);
        }
    }
    template <class Bring = InPlace>
    KITH_HOST_DEVICE void join(const VectorSums& other, const Bring& bring = {}) noexcept {
        for (int axis = 0; axis < D; ++axis) {
            sum[axis].join(other.sum[axis], bring);
        }
    }
    KITH_HOST_DEVICE void conclude(VectorMoments<D>& moments, int dimension,
                                   const ScaledNumber& weight) const noexcept {
        for (int axis = 0; axis < dimension; ++axis) {
            const double mean = mean_of(sum[axis], weight); // rounded more than once: kept between the bounds
            moments.mean[axis] = std::min(std::max(mean, moments.lower[axis]), moments.upper[axis]);
        }
    }
};

/// Third: the largest squares of distances from the mean, weighted and not.
struct SpreadBounds {
    double largest = 0;
    int exponent = no_product;

    template <class Bring = InPlace>
    KITH_HOST_DEVICE void join(const SpreadBounds& other, const Bring& bring = {}) noexcept {
        largest = std::max(largest, bring(other.largest));
        exponent = std::max(exponent, bring(other.exponent));
    }
    template <int D>
    KITH_HOST_DEVICE void conclude(VectorMoments<D>& moments) const noexcept {
        moments.largest_square = largest;
        moments.square_exponent = exponent;
    }
};

/// Fourth: the weighted sum of the squares; sums of masses are the same.
struct SumPart {
    FixedSum sum;

    template <class Bring = InPlace>
    KITH_HOST_DEVICE void join(const SumPart& other, const Bring& bring = {}) noexcept {
        sum.join(other.sum, bring);
    }
    /// `axes` share the mean square.
    template <int D>
    KITH_HOST_DEVICE void conclude(VectorMoments<D>& moments, const ScaledNumber& weight, int axes) const noexcept {
        moments.root_mean_square = moments.unit.root_mean_square(sum, {weight.value * axes, weight.exponent});
    }
};

} // namespace kith::detail::halos
