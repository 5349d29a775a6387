// Sorting 64-bit words within the cache, most significant digit first.
//
// One pass splits the words by their topmost bits, as many as make buckets of a few; one insertion sort over all of
// them then moves words within their buckets only. Buckets that are large all the same are sorted first, by the next
// bits. So only the bits that matter are looked at, about log2 of the number of words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kith::detail {

/// Sorts few words, or words that are nearly in order, into `sorted`; that may be where they are.
inline void insert_words(const std::uint64_t* words, std::int64_t size, std::uint64_t* sorted) {
    for (std::int64_t i = 0; i < size; ++i) {
        const std::uint64_t word = words[i];
        std::int64_t hole = i;
        for (; hole > 0 && sorted[hole - 1] > word; --hole) {
            sorted[hole] = sorted[hole - 1];
        }
        sorted[hole] = word;
    }
}

/// Sorts words[0, size) by their low `bits` bits, the others being alike; words that differ only in bits below
/// `lowest_bit` must be in order. `spare` is as large.
inline void sort_words(std::uint64_t* words, std::uint64_t* spare, std::int64_t size, int bits, int lowest_bit) {
    constexpr std::int64_t insertion_size = 24;
    constexpr int max_digit_bits = 11;
    if (size <= insertion_size) {
        insert_words(words, size, words);
        return;
    }
    if (bits <= lowest_bit) {
        return;
    }
    const int wanted = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size))) - 1;
    const int width = std::min({wanted, max_digit_bits, bits - lowest_bit});
    const int shift = bits - width;
    const std::int64_t buckets = std::int64_t{1} << width;
    const std::uint64_t mask = static_cast<std::uint64_t>(buckets) - 1;
    std::uint32_t ends[(1 << max_digit_bits) + 1];
    std::fill_n(ends, buckets + 1, 0U);
    for (std::int64_t i = 0; i < size; ++i) {
        ++ends[((words[i] >> shift) & mask) + 1];
    }
    std::uint32_t largest = 0;
    for (std::int64_t b = 0; b < buckets; ++b) {
        largest = std::max(largest, ends[b + 1]);
        ends[b + 1] += ends[b];
    }
    for (std::int64_t i = 0; i < size; ++i) {
        spare[ends[(words[i] >> shift) & mask]++] = words[i];
    }
    if (largest > insertion_size) {
        for (std::int64_t b = 0, start = 0; b < buckets; ++b) {
            const std::int64_t end = ends[b]; // where the bucket ends, by now
            if (end - start > insertion_size) {
                sort_words(spare + start, words + start, end - start, shift, lowest_bit);
            }
            start = end;
        }
    }
    insert_words(spare, size, words);
}

} // namespace kith::detail
