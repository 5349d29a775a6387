// Boxes in messages, rounded outward, in a byte or two for each corner and axis.
//
// The corners of a box are written as multiples of a power of two of at most 1/32 of its longest side: the lower corner
// as its difference from the box before, the upper one as its difference from the lower one. Boxes that follow each
// other in a tree's order mostly differ by a few of their sides. The box that is read contains the one that was
// written; multiples have no more bits than the coordinates, so that both ranks know it exactly.
#pragma once

#include "distributed/corners.hpp"
#include "distributed/differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail {

/// What is taken for most boxes.
inline constexpr int bits_of_side = 5;

/// The box before, which writer and reader know.
template <Coordinate T>
struct PackedBox {
    int exponent = 0;
    std::array<T, max_dimension> lower{};

    /// The lower corner in multiples of 2^unit, or 0 where there are too many.
    [[nodiscard]] std::int64_t multiple(int axis, int unit) const {
        const T multiples = std::floor(std::ldexp(lower[axis], -unit));
        return std::abs(multiples) < T(std::int64_t{1} << 62) ? static_cast<std::int64_t>(multiples) : 0;
    }
};

template <Coordinate T>
class PackedBoxWriter {
public:
    PackedBoxWriter(MessageWriter& writer, int dimension) : writer_(writer), dimension_(dimension) {}

    /// To 2^-bits of the longest side of `whole`, which contains it.
    void put(const Corners<T>& box, const Corners<T>& whole, int bits) {
        const int unit = unit_of(whole, bits);
        put_number(writer_, unit - last_.exponent);
        last_.exponent = unit;
        for (int axis = 0; axis < dimension_; ++axis) {
            auto lower = static_cast<std::int64_t>(std::floor(std::ldexp(box[axis], -unit)));
            auto upper = static_cast<std::int64_t>(std::ceil(std::ldexp(box[max_dimension + axis], -unit)));
            lower -= std::ldexp(static_cast<T>(lower), unit) > box[axis] ? 1 : 0; // the quotient has underflowed
            upper += std::ldexp(static_cast<T>(upper), unit) < box[max_dimension + axis] ? 1 : 0;
            put_number(writer_, lower - last_.multiple(axis, unit));
            put_bits(writer_, static_cast<std::uint64_t>(upper - lower));
            last_.lower[axis] = std::ldexp(static_cast<T>(lower), unit);
        }
    }
    void put(const Corners<T>& box) { put(box, box, bits_of_side); }

private:
    /// An exponent of 2.
    [[nodiscard]] int unit_of(const Corners<T>& box, int bits) const {
        using Limits = std::numeric_limits<T>;
        T longest = 0;
        T largest = 0;
        for (int axis = 0; axis < dimension_; ++axis) {
            longest = std::max(longest, box[max_dimension + axis] - box[axis]);
            largest = std::max({largest, std::abs(box[axis]), std::abs(box[max_dimension + axis])});
        }
        int unit = Limits::min_exponent - Limits::digits; // of the least number
        if (longest > 0) {
            unit = std::max(unit, std::ilogb(longest) - bits);
        }
        if (largest > 0) {
            unit = std::max(unit, std::ilogb(largest) - (Limits::digits - 1));
        }
        return unit;
    }

    MessageWriter& writer_;
    int dimension_;
    PackedBox<T> last_;
};

template <Coordinate T>
class PackedBoxReader {
public:
    PackedBoxReader(MessageReader& reader, int dimension) : reader_(reader), dimension_(dimension) {}

    Corners<T> take() {
        Corners<T> box{};
        last_.exponent += static_cast<int>(take_number(reader_));
        const int unit = last_.exponent;
        for (int axis = 0; axis < dimension_; ++axis) {
            const std::int64_t lower = last_.multiple(axis, unit) + take_number(reader_);
            const std::int64_t upper = lower + static_cast<std::int64_t>(take_bits(reader_));
            box[axis] = last_.lower[axis] = std::ldexp(static_cast<T>(lower), unit);
            box[max_dimension + axis] = std::ldexp(static_cast<T>(upper), unit);
        }
        return box;
    }

private:
    MessageReader& reader_;
    int dimension_;
    PackedBox<T> last_;
};

} // namespace kith::detail
