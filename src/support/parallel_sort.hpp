// Sorting by all threads: a sample sort.
//
// A sorted sample cuts the order into buckets. Blocks of elements count how many go into each bucket, then move them
// there; buckets are sorted side by side. Cost: O(n log n) work, and memory for a copy. Source: Frazer, McKellar
// (1970), J. ACM 17, 496.
#pragma once

#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// Sorts by operator<. Equal elements end in any order, the same for any number of threads.
template <class T>
void parallel_sort(Context& context, Buffer<T>& values) {
    constexpr std::int64_t bucket_size = 2048; // wanted
    constexpr std::int64_t max_buckets = 256;
    constexpr std::int64_t samples_per_bucket = 8; // makes the largest bucket about twice the mean
    constexpr std::int64_t block_size = 1 << 13;
    const std::int64_t size = values.size();
    const std::int64_t buckets = std::min(max_buckets, size / bucket_size);
    if (buckets < 8) { // one thread is as fast
        std::sort(values.data(), values.data() + size);
        return;
    }
    std::vector<T> samples;
    for (std::int64_t i = 0; i < samples_per_bucket * buckets; ++i) {
        samples.push_back(values[i * (size / (samples_per_bucket * buckets))]);
    }
    std::sort(samples.begin(), samples.end());
    std::vector<T> upper_ends(max_buckets, samples.back()); // of all buckets but the last
    for (std::int64_t bucket = 0; bucket + 1 < buckets; ++bucket) {
        upper_ends[bucket] = samples[(bucket + 1) * samples_per_bucket];
    }
    const auto bucket_of = [&, last = buckets - 1](const T& value) {
        std::int64_t bucket = 0; // so many buckets lie below, by halving: no branch to mispredict
        for (std::int64_t half = max_buckets / 2; half > 0; half /= 2) {
            bucket += upper_ends[bucket + half - 1] < value ? half : 0;
        }
        return std::min(bucket, last);
    };
    const std::int64_t blocks = blocks_of(size, block_size);
    std::vector<std::int64_t> counts(blocks * buckets);
    Buffer<std::uint8_t> bucket_ids(context.memory_tracker(), size);
    Buffer<T> moved(context.memory_tracker(), size);
    const auto each_block = [&](const auto& body) {
        parallel_blocks(size, block_size, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                body(i, counts.data() + block * buckets);
            }
        });
    };
    each_block([&](std::int64_t i, std::int64_t* count) {
        bucket_ids[i] = static_cast<std::uint8_t>(bucket_of(values[i]));
        ++count[bucket_ids[i]];
    });
    std::vector<std::int64_t> ends;
    std::int64_t place = 0;
    for (std::int64_t bucket = 0; bucket < buckets; ++bucket) {
        for (std::int64_t block = 0; block < blocks; ++block) {
            place += std::exchange(counts[block * buckets + bucket], place);
        }
        ends.push_back(place);
    }
    each_block([&](std::int64_t i, std::int64_t* next) { moved[next[bucket_ids[i]]++] = values[i]; });
    parallel_each(buckets, 1, [&](std::int64_t bucket) {
        std::sort(moved.data() + (bucket == 0 ? 0 : ends[bucket - 1]), moved.data() + ends[bucket]);
    });
    values = std::move(moved);
}

} // namespace kith::detail
