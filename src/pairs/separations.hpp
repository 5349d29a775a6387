// Distances of pairs as whole numbers, so that their sums are exact and know no order, and the means of bins.
//
// The unit is 2^-50 of the power of two above the last edge e: every distance that counts is at most e, as the root of
// a square is that within a limit, and so at most 2^50 units. A distance is rounded to the nearest unit, ties to even,
// by adding it to a number whose last digit is the unit. Sums of up to 2^62 pairs with weights below 2^62 fit 192 bits.
#pragma once

#include "support/host_device.hpp"
#include "support/int128.hpp"
#include "support/int192.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail {

/// Doubles from 2^52 to 2^53 have a last digit of 1: the difference of the bits is the whole number.
inline constexpr double separation_rounder = 0x1.8p52;

/// A distance is a whole number times 2^this, in the units of the points. The last edge is rounded to their type.
inline int separation_exponent(double last_edge) {
    constexpr int bits = 50;
    return last_edge > 0 ? std::ilogb(last_edge) + 1 - bits : 0;
}

/// What a distance in working units, which are 2^-exponent, is multiplied with to count units. Numbers beyond the
/// limits here belong to distances that are all 0, or all rounded to 0.
inline double separation_scale(double last_edge, int exponent) {
    return std::ldexp(1.0, std::clamp(-separation_exponent(last_edge) - exponent, -1022, 1000));
}

/// sum/weight in units of 2^exponent, rounded once, by long division; NaN without weight. Numbers are 0 or more, and
/// the weight is below 2^126.
inline double mean_separation(const Int192& sum, Int128 weight, int exponent) {
    if (weight == 0) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const auto divisor = static_cast<UnsignedInt128>(weight);
    UnsignedInt128 rest = 0;
    std::uint64_t quotient = 0;
    const auto bring_down = [&](bool digit) {
        rest = 2 * rest + (digit ? 1 : 0);
        const bool fits = rest >= divisor;
        rest -= fits ? divisor : 0;
        quotient = 2 * quotient + (fits ? 1 : 0);
    };
    for (int k = 191; k >= 0; --k) {
        bring_down(sum.bit(k));
    }
    for (; rest != 0 && quotient < std::uint64_t{1} << 60; --exponent) {
        bring_down(false);
    }
    // More digits than a double has; the last one also stands for all that follow it.
    return std::ldexp(static_cast<double>(quotient | (rest != 0 ? 1 : 0)), exponent);
}

} // namespace kith::detail
