// Particles by distance from a center, ties by index.
//
// A word holds a squared distance, rounded down to a whole number of steps, above the particle's place among those that
// are sorted. Words are sorted as such (order/word_sort.hpp); those of one step are finished by comparison. Cost:
// linear in practice, two words a particle.
#pragma once

#include "order/word_sort.hpp"
#include "support/scratch_array.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace kith::detail::halos {

/// Memory of one thread.
class DistanceSort {
public:
    /// Calls visit(i) for every i of [0, size), ordered by (squares[i], index_of(i)).
    template <class IndexOf, class Visit>
    void for_each(const double* squares, std::int64_t size, const IndexOf& index_of, const Visit& visit) {
        if (size == 0) {
            return;
        }
        const int place_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size - 1)));
        const int step_bits = std::min(most_step_bits, 64 - place_bits);
        make_words(squares, size, place_bits, step_bits);
        sort_words(words_.data(), spare_.data(), size, place_bits + step_bits, place_bits);
        const std::uint64_t mask = (std::uint64_t{1} << place_bits) - 1;
        for (std::int64_t first = 0; first < size;) {
            std::int64_t last = first + 1;
            while (last < size && words_[last] >> place_bits == words_[first] >> place_bits) {
                ++last;
            }
            if (last - first > 1) {
                std::sort(words_.data() + first, words_.data() + last, [&](std::uint64_t a, std::uint64_t b) {
                    const auto i = static_cast<std::int64_t>(a & mask);
                    const auto j = static_cast<std::int64_t>(b & mask);
                    return squares[i] != squares[j] ? squares[i] < squares[j] : index_of(i) < index_of(j);
                });
            }
            for (; first < last; ++first) {
                visit(static_cast<std::int64_t>(words_[first] & mask));
            }
        }
    }

private:
    static constexpr int most_step_bits = 40;

    void make_words(const double* squares, std::int64_t size, int place_bits, int step_bits) {
        words_.reserve(size);
        spare_.reserve(size);
        const auto [least, most] = std::minmax_element(squares, squares + size);
        const double lowest = *least;
        const double steps = static_cast<double>((std::uint64_t{1} << step_bits) - 1) / (*most - lowest);
        const double scale = steps <= std::numeric_limits<double>::max() ? steps : 0; // else all are one step
        for (std::int64_t i = 0; i < size; ++i) {
            const auto step = static_cast<std::uint64_t>((squares[i] - lowest) * scale);
            words_[i] = step << place_bits | static_cast<std::uint64_t>(i);
        }
    }

    ScratchArray<std::uint64_t> words_;
    ScratchArray<std::uint64_t> spare_;
};

} // namespace kith::detail::halos
