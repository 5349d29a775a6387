// Heights of edges: the smallest linking lengths that join their ends.
//
// A linking length R of type T makes friends of two points if d2 <= fl(r * r), where r is R in working units. Rounding
// is monotone, so the lengths that do so are all those from some smallest one on. That is the root of d2 or the number
// after it, except where squares or scaled lengths are subnormal; there it is found by halving the range of all
// numbers.
#pragma once

#include "points/frame.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::detail {

template <Coordinate T>
class Heights {
public:
    explicit Heights(const Frame<T>& frame) : scale_(frame.scale), back_(-frame.exponent) {}

    /// Of an edge of this squared length, which is in working units. Infinity if no number is long enough.
    [[nodiscard]] T operator()(T squared) const noexcept {
        if (squared == std::numeric_limits<T>::infinity()) { // of a weight
            return squared;
        }
        Bits height = std::bit_cast<Bits>(back_(std::sqrt(squared)));
        height += joins(height, squared) ? 0 : 1;
        const bool is_smallest = joins(height, squared) && (height == 0 || !joins(height - 1, squared));
        return std::bit_cast<T>(is_smallest ? height : by_halving(squared));
    }

private:
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>; // order as the numbers do

    [[nodiscard]] bool joins(Bits length, T squared) const noexcept {
        const T radius = scale_(std::bit_cast<T>(length));
        return squared <= radius * radius;
    }

    [[nodiscard]] Bits by_halving(T squared) const noexcept {
        Bits before = 0; // does not join
        Bits smallest = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
        while (smallest - before > 1) {
            const Bits middle = before + (smallest - before) / 2;
            (joins(middle, squared) ? smallest : before) = middle;
        }
        return smallest;
    }

    PowerOfTwo<T> scale_;
    PowerOfTwo<T> back_;
};

} // namespace kith::detail
