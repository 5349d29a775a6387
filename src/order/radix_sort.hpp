// Sorting 64-bit keys with their point indices, most significant digit first.
//
// Each pass splits a range by its next few bits, as many as make buckets of a handful, into the other buffer; ranges
// that have become small are finished by insertion. So only the bits that matter are looked at, about log2 N, and all
// passes but the first work within the cache. The sort is stable: equal keys keep the order of their indices. Large
// ranges are counted and moved by all threads, small ones are tasks. Cost: O(N) per digit, 24 bytes a point in both
// buffers together.
//
// `finish(begin, end)` is called once for every maximal run of equal keys longer than one, when the run is in place.
#pragma once

#include "support/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace kith::detail {

struct KeyedPoints {
    std::uint64_t* keys;
    std::int32_t* indices;
};

template <class Finish>
class RadixSort {
public:
    /// Sorts home[begin, end) by the low `bits` bits of the keys, using `spare` as the other buffer.
    RadixSort(KeyedPoints home, KeyedPoints spare, const Finish& finish)
        : home_(home), spare_(spare), finish_(finish) {}

    void operator()(std::int64_t begin, std::int64_t end, int bits) const { sort(home_, begin, end, bits); }

private:
    static constexpr std::int64_t insertion_size = 40;     // 16 to 64 measured alike
    static constexpr std::int64_t parallel_size = 1 << 16; // below, one thread is faster
    static constexpr int widest_digit = 11;                // more buckets than that miss the TLB

    void sort(KeyedPoints from, std::int64_t begin, std::int64_t end, int bits) const {
        const std::int64_t size = end - begin;
        if (size <= insertion_size || bits == 0) {
            bring_home(from, begin, end);
            if (bits > 0) {
                insert(begin, end);
            }
            finish_runs(begin, end, bits == 0);
            return;
        }
        const int wanted = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size))) - 3;
        const int width = std::min({wanted, widest_digit, bits});
        const int shift = bits - width;
        if (size >= parallel_size) {
            split_parallel(from, begin, end, shift, width);
        } else {
            split_serial(from, begin, end, shift, width);
        }
    }

    [[nodiscard]] KeyedPoints other(KeyedPoints buffer) const { return buffer.keys == home_.keys ? spare_ : home_; }

    void split_serial(KeyedPoints from, std::int64_t begin, std::int64_t end, int shift, int width) const {
        const KeyedPoints to = other(from);
        const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
        std::uint32_t offsets[(1 << widest_digit) + 1] = {};
        for (std::int64_t i = begin; i < end; ++i) {
            ++offsets[((from.keys[i] >> shift) & mask) + 1];
        }
        const std::int64_t buckets = std::int64_t{1} << width;
        for (std::int64_t b = 0; b < buckets; ++b) {
            offsets[b + 1] += offsets[b];
        }
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t place = begin + offsets[(from.keys[i] >> shift) & mask]++;
            to.keys[place] = from.keys[i];
            to.indices[place] = from.indices[i];
        }
        std::int64_t start = begin; // offsets[b] is now where bucket b ends
        for (std::int64_t b = 0; b < buckets; ++b) {
            const std::int64_t stop = begin + offsets[b];
            if (stop > start) {
                sort(to, start, stop, shift);
            }
            start = stop;
        }
    }

    void split_parallel(KeyedPoints from, std::int64_t begin, std::int64_t end, int shift, int width) const {
        const KeyedPoints to = other(from);
        const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
        const std::int64_t buckets = std::int64_t{1} << width;
        const std::int64_t blocks = std::min<std::int64_t>(64, (end - begin) / (parallel_size / 4));
        const std::int64_t block_size = (end - begin + blocks - 1) / blocks;
        std::vector<std::int64_t> counts(static_cast<std::size_t>(blocks * buckets));
        const auto each_block = [&](auto&& body) {
            parallel_for(0, blocks, 1, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t block = first; block < last; ++block) {
                    const std::int64_t lower = begin + block * block_size;
                    body(counts.data() + block * buckets, lower, std::min(end, lower + block_size));
                }
            });
        };
        each_block([&](std::int64_t* count, std::int64_t lower, std::int64_t upper) {
            for (std::int64_t i = lower; i < upper; ++i) {
                ++count[(from.keys[i] >> shift) & mask];
            }
        });
        std::vector<std::int64_t> starts(static_cast<std::size_t>(buckets) + 1);
        std::int64_t place = begin;
        for (std::int64_t b = 0; b < buckets; ++b) {
            starts[b] = place;
            for (std::int64_t block = 0; block < blocks; ++block) {
                place += std::exchange(counts[block * buckets + b], place);
            }
        }
        starts[buckets] = end;
        each_block([&](std::int64_t* next, std::int64_t lower, std::int64_t upper) {
            for (std::int64_t i = lower; i < upper; ++i) {
                const std::int64_t slot = next[(from.keys[i] >> shift) & mask]++;
                to.keys[slot] = from.keys[i];
                to.indices[slot] = from.indices[i];
            }
        });
        parallel_for(0, buckets, std::max<std::int64_t>(1, buckets / 256), [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t b = first; b < last; ++b) {
                if (starts[b + 1] > starts[b]) {
                    sort(to, starts[b], starts[b + 1], shift);
                }
            }
        });
    }

    void bring_home(KeyedPoints from, std::int64_t begin, std::int64_t end) const {
        if (from.keys != home_.keys) {
            std::copy(from.keys + begin, from.keys + end, home_.keys + begin);
            std::copy(from.indices + begin, from.indices + end, home_.indices + begin);
        }
    }

    void insert(std::int64_t begin, std::int64_t end) const {
        for (std::int64_t i = begin + 1; i < end; ++i) {
            const std::uint64_t key = home_.keys[i];
            const std::int32_t index = home_.indices[i];
            std::int64_t hole = i;
            for (; hole > begin && home_.keys[hole - 1] > key; --hole) {
                home_.keys[hole] = home_.keys[hole - 1];
                home_.indices[hole] = home_.indices[hole - 1];
            }
            home_.keys[hole] = key;
            home_.indices[hole] = index;
        }
    }

    void finish_runs(std::int64_t begin, std::int64_t end, bool all_equal) const {
        if (all_equal) {
            if (end - begin > 1) {
                finish_(begin, end);
            }
            return;
        }
        for (std::int64_t start = begin; start < end;) {
            std::int64_t stop = start + 1;
            while (stop < end && home_.keys[stop] == home_.keys[start]) {
                ++stop;
            }
            if (stop - start > 1) {
                finish_(start, stop);
            }
            start = stop;
        }
    }

    KeyedPoints home_;
    KeyedPoints spare_;
    const Finish& finish_;
};

} // namespace kith::detail
