// Selection: the key of a given rank among the records of a range, which stay where they are.
//
// Counts in equal intervals of the cell tell which one holds the rank; its keys are gathered and counted again within
// their own extent, until few are left. In a large range the keys around the rank are bracketed by a sample instead, so
// that memory is read once: R. W. Floyd, R. L. Rivest, "Expected Time Bounds for Selection" (1975), CACM 18, 165. A
// bracket that misses the rank is replaced by everything. Cost: O(n) on average.
#pragma once

#include <kith/device/kdtree_view.hpp>

#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::detail {

/// Packed: 28 bytes for three float64. So no reference to its coordinates may be taken.
template <class T, int D>
struct [[gnu::packed, gnu::aligned(4)]] TreeRecord {
    static constexpr int dimension = D;

    T x[D];
    std::int32_t index;

    TreeRecord() = default;
    TreeRecord(const std::array<T, D>& coordinates, std::int32_t original) : index(original) {
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = coordinates[axis];
        }
    }
    [[nodiscard]] std::array<T, D> coordinates() const {
        std::array<T, D> copy;
        for (int axis = 0; axis < D; ++axis) {
            copy[axis] = x[axis];
        }
        return copy;
    }
};

/// What a point is ordered by along an axis, and which record of the range it is.
template <class T>
struct TreeKey {
    T x;
    std::int32_t index;
    std::uint32_t record;
    friend bool operator<(const TreeKey& a, const TreeKey& b) {
        return (a.x < b.x) | ((a.x == b.x) & (a.index < b.index));
    }
};

/// Equal intervals of [lower, upper], numbered; equal coordinates share one.
template <class T>
class Intervals {
public:
    Intervals(T lower, T upper, int count)
        : lower_(lower), last_(count - 1), scale_(static_cast<T>(count) / (upper - lower)) {}
    /// Not of a range without extent, or one too large or small to divide.
    [[nodiscard]] bool are_of_use() const { return scale_ > 0 && scale_ <= std::numeric_limits<T>::max(); }
    [[nodiscard]] int operator()(T x) const { return std::min(static_cast<int>((x - lower_) * scale_), last_); }

private:
    T lower_;
    int last_;
    T scale_;
};

inline constexpr int max_intervals = 512;

/// Which interval holds a rank, of `size` keys whose coordinates x(i) gives; the rank becomes that within the interval.
template <class T, class X>
int interval_of_rank(const Intervals<T>& interval_of, int intervals, std::int64_t size, const X& x,
                     std::int64_t& rank) {
    std::array<std::int32_t, max_intervals> counts;
    std::fill_n(counts.begin(), intervals, 0);
    for (std::int64_t i = 0; i < size; ++i) {
        ++counts[interval_of(x(i))];
    }
    int interval = 0;
    while (rank >= counts[interval]) {
        rank -= counts[interval++];
    }
    return interval;
}

/// As many as leave a few keys in each.
inline int intervals_for(std::int64_t size) {
    return static_cast<int>(
        std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(size / 2, 16, max_intervals))));
}

/// The key of a rank; the others are lost.
template <class T>
TreeKey<T> select_key(std::vector<TreeKey<T>>& keys, std::int64_t rank) {
    constexpr std::size_t few = 32;
    constexpr int max_rounds = 4; // then the keys are spread by no scale of this kind
    for (int round = 0; keys.size() > few && round < max_rounds; ++round) {
        T lower = keys.front().x;
        T upper = lower;
        for (const TreeKey<T>& key : keys) {
            lower = std::min(lower, key.x);
            upper = std::max(upper, key.x);
        }
        const int intervals = intervals_for(std::ssize(keys));
        const Intervals<T> interval_of(lower, upper, intervals);
        if (!interval_of.are_of_use()) {
            break;
        }
        const int interval = interval_of_rank(
            interval_of, intervals, std::ssize(keys), [&](std::int64_t i) { return keys[i].x; }, rank);
        std::erase_if(keys, [&](const TreeKey<T>& key) { return interval_of(key.x) != interval; });
    }
    std::nth_element(keys.begin(), keys.begin() + rank, keys.end());
    return keys[rank];
}

/// The key of a rank along an axis, where the records are between `lower` and `upper`.
template <class T, int D>
TreeKey<T> select_key(const TreeRecord<T, D>* records, std::int64_t size, std::int64_t rank, int axis, T lower, T upper,
                      std::vector<TreeKey<T>>& keys) {
    keys.clear();
    const int intervals = intervals_for(size);
    const Intervals<T> interval_of(lower, upper, intervals);
    const bool counts = interval_of.are_of_use();
    const int interval =
        counts ? interval_of_rank(
                     interval_of, intervals, size, [&](std::int64_t i) { return records[i].x[axis]; }, rank)
               : 0;
    for (std::int64_t i = 0; i < size; ++i) {
        if (!counts || interval_of(records[i].x[axis]) == interval) {
            keys.push_back({records[i].x[axis], records[i].index, static_cast<std::uint32_t>(i)});
        }
    }
    return select_key(keys, rank);
}

/// The same by all threads, for many records: keys around the rank are bracketed by a sample.
template <class T, int D>
TreeKey<T> select_key_by_all(const TreeRecord<T, D>* records, std::int64_t size, std::int64_t rank, int axis) {
    using Key = TreeKey<T>;
    const std::int64_t sample_size = std::clamp<std::int64_t>(size / 128, 1, 1 << 13); // each one is a cache miss
    // Four standard deviations of the rank of a sample's median.
    const auto margin = static_cast<std::int64_t>(2 * std::sqrt(static_cast<double>(sample_size)));
    constexpr std::int64_t grain = 1 << 14;
    const auto key = [&](std::int64_t i) {
        return Key{records[i].x[axis], records[i].index, static_cast<std::uint32_t>(i)};
    };
    std::vector<Key> sample;
    for (std::int64_t i = 0; i < sample_size; ++i) {
        sample.push_back(key(i * (size / sample_size)));
    }
    const auto in_sample = static_cast<std::int64_t>(static_cast<double>(rank) / static_cast<double>(size) *
                                                     static_cast<double>(sample_size));
    const auto order_statistic = [&](std::int64_t i) {
        std::nth_element(sample.begin(), sample.begin() + i, sample.end());
        return sample[i];
    };
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr Key below_all{-infinity, 0, 0};
    constexpr Key above_all{infinity, 0, 0};
    Key lower = in_sample < margin ? below_all : order_statistic(in_sample - margin);
    Key upper = in_sample + margin >= sample_size ? above_all : order_statistic(in_sample + margin);
    struct Part {
        std::int64_t below = 0;
        std::vector<Key> keys;
    };
    for (;;) {
        PerThread<Part> parts;
        parallel_for(0, size, grain, [&](std::int64_t begin, std::int64_t end) {
            Part& part = parts.local();
            const TreeRecord<T, D>* const first = records;
            const int a = axis;
            const Key least = lower;
            const Key greatest = upper;
            constexpr std::int64_t run = 512;
            std::array<std::int32_t, run> near; // positions within a run: found without a branch
            std::int64_t below = 0;
            for (std::int64_t run_begin = begin; run_begin < end; run_begin += run) {
                const auto run_size = static_cast<std::int32_t>(std::min(run, end - run_begin));
                std::int32_t found = 0;
                for (std::int32_t i = 0; i < run_size; ++i) {
                    const T x = first[run_begin + i].x[a];
                    const int is_below = x < least.x ? 1 : 0;
                    below += is_below;
                    near[found] = i;
                    found += 1 - is_below - (x > greatest.x ? 1 : 0);
                }
                for (std::int32_t i = 0; i < found; ++i) {
                    const Key candidate = key(run_begin + near[i]);
                    if (candidate < least) {
                        ++below;
                    } else if (candidate < greatest) {
                        part.keys.push_back(candidate);
                    }
                }
            }
            part.below += below;
        });
        std::int64_t below = 0;
        std::vector<Key> keys;
        for (Part& part : parts.values()) {
            below += part.below;
            keys.insert(keys.end(), part.keys.begin(), part.keys.end());
            part.keys = {};
        }
        if (rank >= below && rank < below + std::ssize(keys)) {
            return select_key(keys, rank - below);
        }
        lower = below_all;
        upper = above_all;
    }
}

} // namespace kith::detail
