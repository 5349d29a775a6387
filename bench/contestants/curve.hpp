// The order of points along a space-filling curve, for peers that are faster when points and queries come in it.
//
// Keys interleave the leading bits of the places in the bounding box (Morton order), 32 bits in all: enough
// for locality, which is all that is asked. A radix sort of 11-bit digits orders them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace bench {

template <class T, int D>
std::vector<std::uint32_t> curve_order(const T* rows, std::size_t count) {
    constexpr int bits = 32 / D;
    constexpr auto cells = static_cast<double>((std::uint64_t{1} << bits) - 1);
    std::array<T, D> lower;
    std::array<T, D> upper;
    lower.fill(std::numeric_limits<T>::max());
    upper.fill(std::numeric_limits<T>::lowest());
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t axis = 0; axis < D; ++axis) {
            lower[axis] = std::min(lower[axis], rows[i * D + axis]);
            upper[axis] = std::max(upper[axis], rows[i * D + axis]);
        }
    }
    std::array<T, D> scale;
    for (std::size_t axis = 0; axis < D; ++axis) {
        const double extent = static_cast<double>(upper[axis]) - static_cast<double>(lower[axis]);
        scale[axis] = extent > 0 ? static_cast<T>(0.999999 * cells / extent) : T{0};
    }

    struct Entry {
        std::uint32_t key;
        std::uint32_t index;
    };
    std::vector<Entry> entries(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t key = 0;
        std::array<std::uint32_t, D> cell;
        for (std::size_t axis = 0; axis < D; ++axis) {
            cell[axis] = static_cast<std::uint32_t>((rows[i * D + axis] - lower[axis]) * scale[axis]);
        }
        for (int bit = bits - 1; bit >= 0; --bit) {
            for (std::size_t axis = 0; axis < D; ++axis) {
                key = key << 1 | (cell[axis] >> bit & 1);
            }
        }
        entries[i] = {key, static_cast<std::uint32_t>(i)};
    }
    std::vector<Entry> sorted(count);
    for (int shift = 0; shift < 32; shift += 11) {
        std::array<std::size_t, 2049> starts{};
        for (const Entry& entry : entries) {
            ++starts[(entry.key >> shift & 2047) + 1];
        }
        for (std::size_t digit = 1; digit < starts.size(); ++digit) {
            starts[digit] += starts[digit - 1];
        }
        for (const Entry& entry : entries) {
            sorted[starts[entry.key >> shift & 2047]++] = entry;
        }
        entries.swap(sorted);
    }
    std::vector<std::uint32_t> order(count);
    std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry& entry) { return entry.index; });
    return order;
}

/// The points of `order`, one after the other.
template <class T, int D>
std::vector<T> in_order(const T* rows, const std::vector<std::uint32_t>& order) {
    std::vector<T> out(order.size() * D);
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::copy_n(rows + order[i] * std::size_t{D}, D, out.data() + i * D);
    }
    return out;
}

} // namespace bench
