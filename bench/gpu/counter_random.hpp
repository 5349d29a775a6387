// Random numbers by counting: the number of (seed, index, channel) is always the same, whoever asks and in what order.
//
// A counter goes through the finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014, section 5), once for every word
// of it. A permutation of 0 to n - 1 is a Feistel network of four rounds over the next power of four, walked until it
// falls below n (Black & Rogaway, CT-RSA 2002): at most four steps on average.
#pragma once

#include "marks.hpp"

#include <cstdint>

namespace bench {

BENCH_HOST_DEVICE inline std::uint64_t scrambled(std::uint64_t word) {
    word += 0x9e3779b97f4a7c15U;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
}

BENCH_HOST_DEVICE inline std::uint64_t random_word(std::uint64_t seed, std::uint64_t index, std::uint64_t channel) {
    return scrambled(scrambled(scrambled(seed) ^ index) ^ channel);
}

/// In [0, 1), a multiple of 2^-24 for float and of 2^-53 for double, so never rounded up to 1.
template <class T>
BENCH_HOST_DEVICE inline T random_share(std::uint64_t seed, std::uint64_t index, std::uint64_t channel) {
    const std::uint64_t word = random_word(seed, index, channel);
    if constexpr (sizeof(T) == 4) {
        return static_cast<T>(word >> 40) * static_cast<T>(0x1p-24);
    } else {
        return static_cast<T>(word >> 11) * static_cast<T>(0x1p-53);
    }
}

/// Where `index` goes in a random permutation of 0 to count - 1.
BENCH_HOST_DEVICE inline std::int64_t permuted(std::uint64_t seed, std::int64_t index, std::int64_t count) {
    int half = 1;
    while ((std::int64_t{1} << (2 * half)) < count) {
        ++half;
    }
    const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
    auto place = static_cast<std::uint64_t>(index);
    do {
        std::uint64_t left = place >> half;
        std::uint64_t right = place & mask;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t next = left ^ (random_word(seed, right, round) & mask);
            left = right;
            right = next;
        }
        place = left << half | right;
    } while (place >= static_cast<std::uint64_t>(count));
    return static_cast<std::int64_t>(place);
}

} // namespace bench
