// What one member adds to the sums over its group, and how finished sums become the group's numbers.
//
// The CPU's loops over blocks of members and the kernels of a GPU both call these, so that they give the same bits:
// only operations that IEEE 754 rounds correctly, or that are exact, in an order that is written here.
#pragma once

#include "support/fixed_sum.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <cmath>

namespace kith::detail::halos {

inline constexpr int no_product = 2 * SplitNumber::exponent_of_zero;

KITH_HOST_DEVICE inline int product_exponent(const SplitNumber& a, const SplitNumber& b) noexcept {
    return a.exponent + b.exponent;
}

/// From a reference to the nearest image of a coordinate. An offset of exactly half a period stays as it is. A period
/// of 0 is none.
KITH_HOST_DEVICE inline double nearest_offset(double coordinate, double reference, double period) noexcept {
    double offset = coordinate - reference;
    if (period > 0 && std::abs(offset) > period / 2) {
        offset -= period * std::round(offset / period);
    }
    return offset + 0.0; // never -0.0, which a minimum could not tell from +0.0
}

/// The largest absolute value of numbers whose least and greatest these are.
KITH_HOST_DEVICE inline double largest_between(double lower, double upper) noexcept {
    return -lower > upper ? -lower : upper;
}

/// Whether offsets between these bounds may be of different images. A period of 0 is none.
KITH_HOST_DEVICE inline bool is_wider_than_half(double lower, double upper, double period) noexcept {
    return period > 0 && upper - lower > period / 2;
}

KITH_HOST_DEVICE inline double mean_of(const FixedSum& sum, const ScaledNumber& weight) noexcept {
    return to_double(sum.value() / weight);
}

/// The power of two in whose units differences from a mean are squared.
struct SquareUnit {
    int exponent = 0;  ///< at or above that of every component; not so small that the unit's inverse overflows
    double factor = 1; ///< the unit's inverse

    SquareUnit() = default;
    /// For vectors whose components are at most so large.
    KITH_HOST_DEVICE explicit SquareUnit(double largest) noexcept
        : exponent(std::max(split(largest).exponent, -1000)), factor(std::ldexp(1.0, -exponent)) {}

    [[nodiscard]] KITH_HOST_DEVICE double squared_difference(double x, double mean) const noexcept {
        const double difference = (x - mean) * factor;
        return difference * difference;
    }
    /// The length whose square, in these units, is given.
    [[nodiscard]] KITH_HOST_DEVICE double length(double square) const noexcept {
        return std::ldexp(std::sqrt(square), exponent);
    }
    /// The root of a sum of squares over the total weight.
    [[nodiscard]] KITH_HOST_DEVICE double root_mean_square(const FixedSum& squares,
                                                           const ScaledNumber& weight) const noexcept {
        ScaledNumber root = square_root(squares.value() / weight);
        root.exponent += exponent;
        return to_double(root);
    }
};

} // namespace kith::detail::halos
