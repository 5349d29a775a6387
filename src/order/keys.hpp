// Keys of up to 64 bits: prefixes of the z-order within one cell.
//
// The cell is the smallest dyadic one that holds the points at hand. Per axis the key takes the bits from the cell's
// topmost differing bit downward: the sign if signs differ, then the magnitude in units of a power of two,
// complemented if the number is negative. The axes' bits are interleaved, axis 0 first. So keys order points as the
// curve does, down to the unit; points with equal keys share a smaller cell and are ordered within it by other means.
// Many keys at once are made by the vector (vector_keys.hpp), where the numbers at hand fit its lanes.
#pragma once

#include "order/vector_keys.hpp"
#include "order/zorder.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail {

/// Spreads the bits of a byte so that D - 1 zeros follow each.
template <int D>
inline constexpr std::array<std::uint64_t, 256> spread_byte = [] {
    std::array<std::uint64_t, 256> table{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        for (unsigned bit = 0; bit < 8 && bit * D < 64; ++bit) {
            table[byte] |= static_cast<std::uint64_t>((byte >> bit) & 1U) << (bit * D);
        }
    }
    return table;
}();

/// Keys with so many bits of every axis.
template <Coordinate T, int D, int BitsPerAxis>
class KeyEncoder {
public:
    static constexpr int bits_per_axis = BitsPerAxis;
    static constexpr int bits = bits_per_axis * D;
    static_assert(bits <= 64);

    /// For the cell whose topmost differing bit has this exponent; sign_exponent if signs differ in it.
    KITH_HOST_DEVICE KeyEncoder(int top_exponent, int sign_exponent)
        : unit_exponent_(top_exponent - bits_per_axis + 1),
          top_if_signs_differ_(top_exponent == sign_exponent ? top : 0) {
        // No number at hand reaches 2^sign_exponent. Where that is less than 2^63 units, a conversion to an integer
        // does what the general way does with shifts: multiplying by a power of two is exact, or gives less than one.
        if (sign_exponent - unit_exponent_ < 63 && std::abs(unit_exponent_) < 1000) {
            units_ = std::ldexp(1.0, -unit_exponent_);
        }
        // A vector's lanes hold less. The units themselves must be an ordinary number of type T.
        if (sign_exponent - unit_exponent_ < 31 &&
            std::abs(unit_exponent_) < std::numeric_limits<T>::max_exponent - 2 && bits_per_axis <= 16) {
            vector_units_ = std::ldexp(T(1), -unit_exponent_);
        }
    }

    [[nodiscard]] std::uint64_t operator()(const std::array<T, D>& x) const noexcept {
        std::uint64_t key = 0;
        for (int axis = 0; axis < D; ++axis) {
            key |= spread(axis_bits(x[axis])) << (D - 1 - axis);
        }
        return key;
    }

    /// One axis' bits of a key.
    [[nodiscard]] KITH_HOST_DEVICE std::uint64_t axis_bits(T x) const noexcept {
        std::uint64_t value =
            units_ != 0
                ? static_cast<std::uint64_t>(static_cast<std::int64_t>(std::fabs(static_cast<double>(x)) * units_))
                : magnitude_in_units(x);
        value ^= FloatBits<T>::negative(x) ? ~std::uint64_t{0} : 0;
        // The topmost bit is the sign's if signs differ, and then no number's own; it is set if not negative.
        value = (value & ~top_if_signs_differ_) | (FloatBits<T>::negative(x) ? 0 : top_if_signs_differ_);
        return value & (top | (top - 1));
    }

    /// Calls take(i, key) for the points i in [begin, end), which source(i).x gives.
    template <class Source, class Take>
    void each(const Source& source, std::int64_t begin, std::int64_t end, const Take& take) const {
        if (vector_units_ == 0) {
            for (std::int64_t i = begin; i < end; ++i) {
                take(i, (*this)(source(i).x));
            }
            return;
        }
        constexpr std::int64_t block = 128;
        static_assert(block % key_padding == 0);
        T columns[D * block] = {};
        std::uint64_t keys[block];
        for (std::int64_t first = begin; first < end; first += block) {
            const std::int64_t count = std::min(block, end - first);
            for (std::int64_t i = 0; i < count; ++i) {
                const auto& x = source(first + i).x;
                for (int axis = 0; axis < D; ++axis) {
                    columns[axis * block + i] = x[axis];
                }
            }
            make_keys({columns, block, count, vector_units_, static_cast<std::uint32_t>(top | (top - 1)),
                       static_cast<std::uint32_t>(top_if_signs_differ_)},
                      D, keys);
            for (std::int64_t i = 0; i < count; ++i) {
                take(first + i, keys[i]);
            }
        }
    }

private:
    static constexpr std::uint64_t top = std::uint64_t{1} << (bits_per_axis - 1);

    /// Its low 64 bits.
    [[nodiscard]] KITH_HOST_DEVICE std::uint64_t magnitude_in_units(T x) const noexcept {
        using Bits = FloatBits<T>;
        const auto magnitude = Bits::magnitude(x);
        const std::uint64_t significand = Bits::significand(magnitude);
        const int shift = Bits::unit_exponent(magnitude) - unit_exponent_;
        if (shift >= 0) {
            return shift < 64 ? significand << shift : 0;
        }
        return shift > -64 ? significand >> -shift : 0;
    }

    static std::uint64_t spread(std::uint64_t value) noexcept {
        std::uint64_t result = 0;
        for (int byte = 0; byte * 8 < bits_per_axis; ++byte) {
            result |= spread_byte<D>[(value >> (8 * byte)) & 255U] << (8 * byte * D);
        }
        return result;
    }

    int unit_exponent_;
    std::uint64_t top_if_signs_differ_; ///< 0 if they do not
    double units_ = 0;                  ///< in one; 0 if numbers may be too large, or units too small, for that
    T vector_units_ = 0;                ///< the same for make_keys
};

} // namespace kith::detail
