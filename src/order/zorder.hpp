// The z-order curve on floating-point coordinates, without a grid.
//
// Two numbers are compared as infinite fixed-point bit strings: sign first, then magnitude. The place of their most
// significant differing bit is an exponent; the axis with the largest one decides, the earlier axis on equality, and
// there the smaller number comes first. The level of two points orders the bits of the interleaved string: cells are
// the sets of points that share all bits above a level. Source: jz-tree paper, equations 1 to 5. Differing signs count
// as one bit above the largest exponent at hand; above the largest that the type has, the order is the same, but the
// level does not measure a volume.
#pragma once

#include <kith/points.hpp>

#include "support/bits.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::detail {

/// The level of coincident points: below every other.
inline constexpr int coincident = std::numeric_limits<std::int16_t>::min();

template <Coordinate T>
struct FloatBits {
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
    static constexpr int word_bits = 8 * sizeof(T);
    static constexpr Word sign_bit = Word{1} << (word_bits - 1);
    static constexpr Word mantissa_mask = (Word{1} << mantissa_bits) - 1;

    KITH_HOST_DEVICE static Word magnitude(T x) noexcept { return std::bit_cast<Word>(x) & ~sign_bit; }
    KITH_HOST_DEVICE static bool negative(T x) noexcept { return (std::bit_cast<Word>(x) & sign_bit) != 0; }
    /// Exponent of the lowest mantissa bit of a magnitude; subnormals share that of the smallest normals.
    KITH_HOST_DEVICE static int unit_exponent(Word magnitude) noexcept {
        const int field = static_cast<int>(magnitude >> mantissa_bits);
        return (field == 0 ? 1 : field) - std::numeric_limits<T>::max_exponent + 1 - mantissa_bits;
    }
    /// The mantissa with its leading bit made explicit.
    KITH_HOST_DEVICE static Word significand(Word magnitude) noexcept {
        const bool normal = (magnitude >> mantissa_bits) != 0;
        return (magnitude & mantissa_mask) | (static_cast<Word>(normal) << mantissa_bits);
    }
};

/// Exponent of the most significant bit in which two numbers differ; `coincident` if they are equal. Numbers of
/// different sign differ at sign_exponent. Neither is -0.0.
template <Coordinate T>
KITH_HOST_DEVICE int differing_bit(T a, T b, int sign_exponent) noexcept {
    using Bits = FloatBits<T>;
    if (a == b) {
        return coincident;
    }
    if (Bits::negative(a) != Bits::negative(b)) {
        return sign_exponent;
    }
    const auto ma = Bits::magnitude(a);
    const auto mb = Bits::magnitude(b);
    const auto larger = ma > mb ? ma : mb;
    const int unit = Bits::unit_exponent(larger);
    if (unit != Bits::unit_exponent(ma > mb ? mb : ma)) {
        return unit + Bits::mantissa_bits;
    }
    const auto difference = Bits::significand(ma) ^ Bits::significand(mb);
    return unit + bit_width(difference) - 1;
}

/// Of the numbers that agree with `first` or `last` above the bit of `exponent`, where these two differ, the smallest
/// on the side of `last`: the half that comes second.
template <Coordinate T>
T second_half(T first, T last, int exponent) noexcept {
    using Bits = FloatBits<T>;
    using Word = typename Bits::Word;
    if (Bits::negative(first) != Bits::negative(last)) {
        return T(0);
    }
    // The one on the far side of the bit, without the bits below.
    const Word larger = std::max(Bits::magnitude(first), Bits::magnitude(last));
    const Word boundary = larger & ~((Word{1} << (exponent - Bits::unit_exponent(larger))) - 1);
    return std::bit_cast<T>(Bits::negative(last) ? (boundary - 1) | Bits::sign_bit : boundary); // one closer to zero
}

/// Where two points part on the curve.
struct Split {
    int exponent = coincident; ///< of the differing bit
    int axis = 0;
    /// Equation 5; `coincident` for coincident points. Larger levels are larger cells.
    [[nodiscard]] KITH_HOST_DEVICE int level(int dimension) const noexcept {
        return exponent == coincident ? coincident : (exponent + 1) * dimension - axis;
    }
};

template <Coordinate T, int D>
KITH_HOST_DEVICE Split split_of(const std::array<T, D>& p, const std::array<T, D>& q, int sign_exponent) noexcept {
    Split found;
    for (int axis = 0; axis < D; ++axis) {
        const int exponent = differing_bit(p[axis], q[axis], sign_exponent);
        if (exponent > found.exponent) {
            found = {exponent, axis};
        }
    }
    return found;
}

} // namespace kith::detail
