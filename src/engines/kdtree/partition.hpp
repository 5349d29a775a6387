// Parts records by the one of a given rank along an axis: smaller ones before it, larger ones behind.
//
// The record of that rank is found first (selection.hpp), then the others are compared with it. A large range is parted
// by all threads: blocks side by side, then what is on the wrong side is exchanged. The order along an axis is total
// (coordinate, original index), so which records are where does not depend on the number of threads. Cost: O(n) on
// average. Memory: a buffer of a block for each thread.
#pragma once

#include <kith/device/kdtree.hpp>

#include "engines/kdtree/selection.hpp"
#include "support/parallel.hpp"
#include "support/scratch_array.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// Records that one task loads or scans.
inline constexpr std::int64_t record_grain = 1 << 14;

/// Smaller ranges are work for one thread.
inline constexpr std::int64_t parallel_size = 1 << 17;

/// The tight box of one point or more; `load(i)` gives the coordinates of point i.
template <class T, int D, class Load>
kdtree::Bounds<T, D> bounds_of_points(std::int64_t size, const Load& load) {
    using Bounds = kdtree::Bounds<T, D>;
    const auto extend = [&](std::int64_t begin, std::int64_t end, Bounds box) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::array<T, D> x = load(i);
            for (int axis = 0; axis < D; ++axis) {
                box.lower.x[axis] = std::min(box.lower.x[axis], x[axis]);
                box.upper.x[axis] = std::max(box.upper.x[axis], x[axis]);
            }
        }
        return box;
    };
    const std::array<T, D> x = load(0);
    Bounds first;
    for (int axis = 0; axis < D; ++axis) {
        first.lower.x[axis] = first.upper.x[axis] = x[axis];
    }
    if (size < parallel_size) {
        return extend(0, size, first);
    }
    return parallel_reduce(0, size, record_grain, first, extend, [](Bounds left, const Bounds& right) {
        for (int axis = 0; axis < D; ++axis) {
            left.lower.x[axis] = std::min(left.lower.x[axis], right.lower.x[axis]);
            left.upper.x[axis] = std::max(left.upper.x[axis], right.upper.x[axis]);
        }
        return left;
    });
}

template <class T, int D>
kdtree::Bounds<T, D> bounds_of_records(const TreeRecord<T, D>* records, std::int64_t size) {
    return bounds_of_points<T, D>(size, [records](std::int64_t i) { return records[i].coordinates(); });
}

template <class T, int D>
class RecordPartition {
    using Record = TreeRecord<T, D>;
    using Key = TreeKey<T>;

public:
    /// Memory of one thread.
    struct Scratch {
        ScratchArray<Record> records;
        std::vector<Key> keys;
    };
    [[nodiscard]] Scratch& local_scratch() { return scratch_.local(); }

    /// Brings the record of a rank along an axis to its place, and the others to their side of it. The records are
    /// between `lower` and `upper`. Large ranges are parted by all threads, others with the memory of this one.
    void split(Record* records, std::int64_t size, std::int64_t rank, int axis, T lower, T upper, Scratch& scratch) {
        if (size <= sorted_size) {
            sort_few(records, size, axis);
            return;
        }
        const Key pivot = select(records, size, rank, axis, lower, upper, scratch);
        if (size <= block_size) {
            std::swap(records[pivot.record], records[size - 1]);
            (void)part_block(records, size - 1, axis, pivot, scratch);
            std::swap(records[rank], records[size - 1]);
        } else {
            part(records, size, rank, axis, pivot);
        }
    }

private:
    static constexpr std::int64_t block_size = 1 << 13; ///< records that one thread parts, within its cache
    static constexpr std::int64_t sorted_size = 8;

    struct Range {
        std::int64_t begin;
        std::int64_t end;
    };

    static Key select(const Record* records, std::int64_t size, std::int64_t rank, int axis, T lower, T upper,
                      Scratch& scratch) {
        return size < parallel_size ? select_key(records, size, rank, axis, lower, upper, scratch.keys)
                                    : select_key_by_all(records, size, rank, axis);
    }

    static void sort_few(Record* records, std::int64_t size, int axis) {
        for (std::int64_t i = 1; i < size; ++i) {
            const Key key{records[i].x[axis], records[i].index, 0};
            const Record record = records[i];
            std::int64_t hole = i;
            for (; hole > 0 && key < Key{records[hole - 1].x[axis], records[hole - 1].index, 0}; --hole) {
                records[hole] = records[hole - 1];
            }
            records[hole] = record;
        }
    }

    /// Smaller records to the front, in order; returns how many. No branch depends on what is compared.
    static std::int64_t part_block(Record* records, std::int64_t size, int axis, Key pivot, Scratch& scratch) {
        scratch.records.reserve(block_size);
        Record* const others = scratch.records.data();
        std::int64_t smaller = 0;
        for (std::int64_t i = 0; i < size; ++i) {
            // Not from the copy: that would wait for its stores.
            const Key key{records[i].x[axis], records[i].index, 0};
            const Record record = records[i];
            records[smaller] = record;
            others[i - smaller] = record;
            smaller += key < pivot ? 1 : 0;
        }
        std::copy_n(others, size - smaller, records + smaller);
        return smaller;
    }

    /// Parts records by the pivot, which then is record `left`.
    void part(Record* records, std::int64_t size, std::int64_t left, int axis, Key pivot) {
        std::swap(records[pivot.record], records[--size]);
        const std::int64_t blocks = blocks_of(size, block_size);
        std::vector<std::int64_t> smaller(blocks);
        const auto part_blocks = [&](std::int64_t first, std::int64_t last) {
            Scratch& scratch = scratch_.local();
            for (std::int64_t block = first; block < last; ++block) {
                const std::int64_t begin = block * block_size;
                smaller[block] = part_block(records + begin, std::min(block_size, size - begin), axis, pivot, scratch);
            }
        };
        // What has to change sides: the two lists have as many records.
        std::vector<Range> too_far;
        std::vector<Range> too_near;
        const auto note = [](std::vector<Range>& list, std::int64_t begin, std::int64_t end) {
            if (begin < end) {
                list.push_back({begin, end});
            }
        };
        if (size < parallel_size) {
            part_blocks(0, blocks);
        } else {
            parallel_for(0, blocks, 1, part_blocks);
        }
        for (std::int64_t block = 0; block < blocks; ++block) {
            const std::int64_t begin = block * block_size;
            const std::int64_t middle = begin + smaller[block];
            note(too_far, std::max(begin, left), middle);
            note(too_near, middle, std::min({begin + block_size, size, left}));
        }
        exchange(records, too_far, too_near);
        std::swap(records[left], records[size]);
    }

    static void exchange(Record* records, const std::vector<Range>& some, const std::vector<Range>& others) {
        const std::vector<std::int64_t> some_starts = starts_of(some);
        const std::vector<std::int64_t> other_starts = starts_of(others);
        const auto exchange_part = [&](std::int64_t begin, std::int64_t end) {
            auto a = static_cast<std::size_t>(std::upper_bound(some_starts.begin(), some_starts.end(), begin) -
                                              some_starts.begin() - 1);
            auto b = static_cast<std::size_t>(std::upper_bound(other_starts.begin(), other_starts.end(), begin) -
                                              other_starts.begin() - 1);
            while (begin < end) {
                const std::int64_t next = std::min({end, some_starts[a + 1], other_starts[b + 1]});
                Record* const first = records + some[a].begin + (begin - some_starts[a]);
                std::swap_ranges(first, first + (next - begin), records + others[b].begin + (begin - other_starts[b]));
                begin = next;
                a += begin == some_starts[a + 1] ? 1 : 0;
                b += begin == other_starts[b + 1] ? 1 : 0;
            }
        };
        if (some_starts.back() < record_grain) {
            exchange_part(0, some_starts.back());
        } else {
            parallel_for(0, some_starts.back(), record_grain, exchange_part);
        }
    }
    [[nodiscard]] static std::vector<std::int64_t> starts_of(const std::vector<Range>& ranges) {
        std::vector<std::int64_t> starts{0};
        for (const Range& range : ranges) {
            starts.push_back(starts.back() + (range.end - range.begin));
        }
        return starts;
    }

    PerThread<Scratch> scratch_;
};

} // namespace kith::detail
