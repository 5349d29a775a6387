// Particles of many halos or shells by owner, squared distance and index, in memory of a GPU.
//
// Squares are not negative, so their bits are in their order. All that is compared, the owner above the square above
// the index, fits two words: a stable sort by the lower word, then one by the upper. Both are radix sorts, so equal
// distances cost nothing. Memory: 32 bytes a particle while they are sorted, of which 4 stay.
#pragma once

#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "support/bits.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace kith::detail::inline KITH_GPU {

/// What is sorted; owners are numbers below owner_count, indices below index_count.
struct DistanceOrderJob {
    std::int64_t count = 0;
    const std::int32_t* owners = nullptr;
    const double* squares = nullptr;
    const std::int32_t* indices = nullptr;
    std::int64_t owner_count = 0;
    std::int64_t index_count = 0;

    [[nodiscard]] int owner_bits() const { return bits_of(owner_count); }
    [[nodiscard]] int index_bits() const { return std::max(bits_of(index_count), 1); }

private:
    [[nodiscard]] static int bits_of(std::int64_t count) {
        return bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1) - 1));
    }
};

KITH_HOST_DEVICE inline std::uint64_t bits_of_square(double square) noexcept {
    return std::bit_cast<std::uint64_t>(square);
}

/// The lower bits of the square above the index.
struct MakeLowerWords {
    const double* squares;
    const std::int32_t* indices;
    int index_bits;
    std::uint64_t* words;
    std::int32_t* places;

    __device__ void operator()(std::int64_t i) const {
        words[i] = bits_of_square(squares[i]) << index_bits | static_cast<std::uint32_t>(indices[i]);
        places[i] = static_cast<std::int32_t>(i);
    }
};

/// The owner above the upper bits of the square, of which the sign is none.
struct MakeUpperWords {
    const double* squares;
    const std::int32_t* owners;
    int index_bits;
    const std::int32_t* places;
    std::uint64_t* words;

    __device__ void operator()(std::int64_t i) const {
        const std::int32_t place = places[i];
        words[i] = static_cast<std::uint64_t>(owners[place]) << (index_bits - 1) |
                   bits_of_square(squares[place]) >> (64 - index_bits);
    }
};

/// The places of all, in order.
inline DeviceBuffer<std::int32_t> order_by_distance(DeviceWork& work, const DistanceOrderJob& job) {
    DeviceBuffer<std::int32_t> places = work.buffer<std::int32_t>(job.count);
    DeviceBuffer<std::uint64_t> words = work.buffer<std::uint64_t>(job.count);
    const int index_bits = job.index_bits();
    for_each_index(work, "lower words of distances", job.count,
                   MakeLowerWords{job.squares, job.indices, index_bits, words.data(), places.data()});
    sort_by_key(work, words, places, 64);
    if (const int bits = job.owner_bits() + index_bits - 1; bits > 0) {
        for_each_index(work, "upper words of distances", job.count,
                       MakeUpperWords{job.squares, job.owners, index_bits, places.data(), words.data()});
        sort_by_key(work, words, places, bits);
    }
    return places;
}

} // namespace kith::detail::inline KITH_GPU
