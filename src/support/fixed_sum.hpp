// Sums that do not depend on the order of their terms.
//
// Every term is a product of two doubles. It is formed exactly, as an integer of 106 bits with an exponent, rounded
// once to a unit common to the whole sum, and added as a 128-bit integer, which is associative. The unit follows from
// two numbers that know no order either: the largest exponent of any term, and the number of terms, n. With 2^top above
// every |term|, the unit is 2^(top - f), where f = 106 for n < 2^20 and f = 126 - bit_width(n) >= 95 beyond, so that n
// terms cannot overflow.
//
// What is lost: at most half a unit per term, so n 2^(top - f) / 2 in all, which is below 2^(top - 65) for the 2^31 - 1
// terms a process may have, and below 2^(top - 87) under a million. The largest term is at least 2^(top - 2). So the
// sum of terms of one sign is good to 2^-63 of itself, a thousand times finer than a double shows; a mean of offsets is
// good to 2^-63 of the largest product over the total weight, whatever the signs and whatever the masses span. Rounding
// the finished sum to a double is the only rounding that shows.
//
// Kernels of a GPU form the same sums with this text.
#pragma once

#include "support/bits.hpp"
#include "support/host_device.hpp"
#include "support/int128.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace kith::detail {

/// The nearest double, ties to even: what a compiler's own conversion gives, on every device.
KITH_HOST_DEVICE inline double nearest_double(Int128 x) noexcept {
    const auto bits = static_cast<UnsignedInt128>(x);
    const UnsignedInt128 magnitude = x < 0 ? -bits : bits;
    const auto high = static_cast<std::uint64_t>(magnitude >> 64);
    // The leading 64 bits, the last of which also stands for all that follow it: more than a double holds, so that
    // rounding them once more is rounding the whole.
    const auto shift = bit_width(high);
    const UnsignedInt128 below = magnitude & ((UnsignedInt128{1} << shift) - 1);
    const std::uint64_t leading = static_cast<std::uint64_t>(magnitude >> shift) | (below != 0 ? 1U : 0U);
    const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + shift) << 52);
    const double value = static_cast<double>(leading) * power;
    return x < 0 ? -value : value;
}

/// A finite double as mantissa * 2^(exponent - 53) with 2^52 <= |mantissa| < 2^53, so that |x| < 2^exponent. Zero has
/// an exponent below all others, small enough to stay below them in a product.
struct SplitNumber {
    static constexpr int exponent_of_zero = -10000;

    std::int64_t mantissa = 0;
    int exponent = exponent_of_zero;
};

KITH_HOST_DEVICE inline SplitNumber split(double x) noexcept {
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
    std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    int field = static_cast<int>(bits >> 52 & 0x7ff);
    int lifted = 0;
    if (field == 0) {
        if (x == 0) {
            return {};
        }
        bits = std::bit_cast<std::uint64_t>(x * 0x1p64); // subnormal: lifted among the normal numbers
        field = static_cast<int>(bits >> 52 & 0x7ff);
        lifted = 64;
    }
    const auto magnitude = static_cast<std::int64_t>((bits & fraction) | (fraction + 1));
    return {x < 0 ? -magnitude : magnitude, field - 1022 - lifted};
}

/// value * 2^exponent: a number whose size a double need not be able to hold.
struct ScaledNumber {
    double value = 0;
    int exponent = 0;
};

KITH_HOST_DEVICE inline ScaledNumber operator/(const ScaledNumber& a, const ScaledNumber& b) noexcept {
    return {a.value / b.value, a.exponent - b.exponent};
}

KITH_HOST_DEVICE inline ScaledNumber square_root(const ScaledNumber& a) noexcept {
    const int odd = a.exponent & 1;
    return {std::sqrt(odd != 0 ? 2 * a.value : a.value), (a.exponent - odd) / 2};
}

KITH_HOST_DEVICE inline double to_double(const ScaledNumber& a) noexcept {
    return std::ldexp(a.value, a.exponent);
}

/// Fetches numbers from where they are.
struct InPlace {
    template <class T>
    KITH_HOST_DEVICE T operator()(const T& number) const noexcept {
        return number;
    }
};

class FixedSum {
public:
    /// For at most `terms` products whose two exponents add up to at most `top`.
    KITH_HOST_DEVICE FixedSum(int top, std::int64_t terms) noexcept {
        const int kept = 126 - bit_width(static_cast<std::uint64_t>(terms));
        shift_at_zero_ = top + product_bits - (kept < product_bits ? kept : product_bits);
    }
    FixedSum() = default;

    KITH_HOST_DEVICE void add(const SplitNumber& a, const SplitNumber& b) noexcept {
        const int shift = shift_at_zero_ - (a.exponent + b.exponent);
        if (shift > product_bits) { // less than half a unit
            return;
        }
        const Int128 product = static_cast<Int128>(a.mantissa) * b.mantissa;
        sum_ += ((2 * product >> shift) + 1) >> 1; // to the nearest unit
    }
    /// Adds a sum in the same units, which `bring` fetches from where it lies.
    template <class Bring = InPlace>
    KITH_HOST_DEVICE void join(const FixedSum& other, const Bring& bring = {}) noexcept {
        sum_ += bring(other.sum_);
    }

    [[nodiscard]] KITH_HOST_DEVICE ScaledNumber value() const noexcept {
        return {nearest_double(sum_), shift_at_zero_ - product_bits};
    }

private:
    static constexpr int product_bits = 106;

    Int128 sum_ = 0;
    int shift_at_zero_ = 0; ///< how far a product with exponent 0 is shifted down to the unit
};

} // namespace kith::detail
