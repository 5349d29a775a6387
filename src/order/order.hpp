// Points into the order of the z-order curve.
//
// The points of a cell get 64-bit keys relative to the cell. A large cell is split by the topmost bits of the keys:
// points and indices move together, once, as records, so that what follows reads and writes memory in order. A cell
// that fits the second-level cache is sorted there by its keys and written out axis by axis. Points whose keys agree
// share a smaller cell and are sorted again within it, a few of them by comparison; coincident points keep the order of
// their original indices, since nothing on the way changes the order of equals. Cost: O(N) time for ordinary data; 16
// bytes a point of scratch in 3-D float32, in donated memory if there is any.
#pragma once

#include "order/keys.hpp"
#include "order/word_sort.hpp"
#include "order/zorder.hpp"
#include "points/point_set.hpp"
#include "support/bits.hpp"
#include "support/donated_memory.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::detail {

/// One bit above the largest exponent of any coordinate: where numbers of different sign part.
template <Coordinate T, int D>
KITH_HOST_DEVICE int sign_exponent_of(const std::array<T, D>& lower, const std::array<T, D>& upper) {
    int exponent = coincident + 1;
    for (int axis = 0; axis < D; ++axis) {
        for (const T x : {lower[axis], upper[axis]}) {
            if (x != 0) {
                const auto magnitude = FloatBits<T>::magnitude(x);
                exponent = std::max(exponent, FloatBits<T>::unit_exponent(magnitude) +
                                                  bit_width(FloatBits<T>::significand(magnitude)));
            }
        }
    }
    return exponent;
}

template <Coordinate T, int D>
class ZOrderSort {
public:
    /// Fills the coordinates and indices of `sorted`, which has room for all points.
    ZOrderSort(Context& context, const NormalizedPoints<T>& points, PointSet<T>& sorted, const DonatedMemory& spare)
        : context_(context), sorted_(sorted), spare_(spare) {
        const PointReader<T> load(points);
        const FromView source{load};
        const std::int64_t count = points.view.count();
        if (count == 0) {
            return;
        }
        const Extent all = points.wraps ? extent(source, count) : extent(points);
        sign_exponent_ = sign_exponent_of<T, D>(all.lower, all.upper);
        sort_cell(source, count, 0, all);
    }

    [[nodiscard]] int sign_exponent() const noexcept { return sign_exponent_; }

private:
    struct Record {
        std::array<T, D> x;
        std::int32_t index;
    };
    struct Extent {
        std::array<T, D> lower;
        std::array<T, D> upper;
    };
    struct FromView {
        const PointReader<T>& load;
        [[nodiscard]] Record operator()(std::int64_t i) const noexcept {
            return {load.template position<D>(i), static_cast<std::int32_t>(i)};
        }
    };
    struct FromRecords {
        const Record* records;
        [[nodiscard]] const Record& operator()(std::int64_t i) const noexcept { return records[i]; }
    };
    struct FromSorted {
        const PointSet<T>& points;
        std::int64_t begin;
        [[nodiscard]] Record operator()(std::int64_t i) const noexcept {
            Record record;
            for (int axis = 0; axis < D; ++axis) {
                record.x[axis] = points.axis(axis)[begin + i];
            }
            record.index = points.indices[begin + i];
            return record;
        }
    };
    /// Where sorted points go, from some position on; the pointers stay in registers.
    struct SortedOutput {
        std::array<T*, D> axis;
        std::int32_t* index;
        SortedOutput(PointSet<T>& sorted, std::int64_t begin) : index(sorted.indices.data() + begin) {
            for (int a = 0; a < D; ++a) {
                axis[a] = sorted.axis(a) + begin;
            }
        }
        void put(const Record& record, std::int64_t i) const {
            for (int a = 0; a < D; ++a) {
                axis[a][i] = record.x[a];
            }
            index[i] = record.index;
        }
    };
    /// Of one thread: a cell that is sorted within the cache.
    struct Scratch {
        std::vector<std::uint64_t> words;
        std::vector<std::uint64_t> spare;
    };
    struct Run {
        std::int64_t begin;
        std::int64_t end;
    };

    // Most keys differ within their first 16 bits of an axis; those that do not are ordered by other means.
    static constexpr int position_bits = 13;
    using PartKey = KeyEncoder<T, D, 8>;
    using CachedKey = KeyEncoder<T, D, std::min(16, (64 - position_bits) / D)>;

    static constexpr std::int64_t cached_size = std::int64_t{1} << position_bits; // 256 kB with keys, in 3-D float32
    static constexpr std::int64_t wanted_size = cached_size / 4;                  // of a large cell's parts
    static constexpr int max_digit_bits = 11;                                     // more parts would miss the TLB
    static constexpr std::int64_t parallel_size = 1 << 14;                        // smaller cells are one thread's
    static constexpr std::int64_t max_compared_run = 64;
    static constexpr std::int64_t grain = 1 << 14;

    template <class Source>
    static void extend(Extent& extent, const Source& source, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Record& record = source(i);
            for (int axis = 0; axis < D; ++axis) {
                extent.lower[axis] = std::min(extent.lower[axis], record.x[axis]);
                extent.upper[axis] = std::max(extent.upper[axis], record.x[axis]);
            }
        }
    }

    [[nodiscard]] static Extent extent(const NormalizedPoints<T>& unwrapped) {
        Extent all;
        for (int axis = 0; axis < D; ++axis) {
            all.lower[axis] = unwrapped.frame.load(unwrapped.lower[axis], axis);
            all.upper[axis] = unwrapped.frame.load(unwrapped.upper[axis], axis);
        }
        return all;
    }

    template <class Source>
    [[nodiscard]] static Extent extent(const Source& source, std::int64_t size) {
        const Record& first = source(0);
        Extent none{first.x, first.x};
        if (size < parallel_size) {
            extend(none, source, 0, size);
            return none;
        }
        return parallel_reduce(
            0, size, grain, none,
            [&](std::int64_t begin, std::int64_t end, Extent sum) {
                extend(sum, source, begin, end);
                return sum;
            },
            [](Extent left, const Extent& right) {
                for (int axis = 0; axis < D; ++axis) {
                    left.lower[axis] = std::min(left.lower[axis], right.lower[axis]);
                    left.upper[axis] = std::max(left.upper[axis], right.upper[axis]);
                }
                return left;
            });
    }

    // The ends of a cell have different keys. If all keys are equal nevertheless, another thread has put the caller's
    // points beyond the bounds that were found for them; no order is asked for then, only an end.
    template <class Source>
    void put_as_they_are(const Source& source, std::int64_t size, std::int64_t begin) {
        const SortedOutput output(sorted_, begin);
        for (std::int64_t i = 0; i < size; ++i) {
            output.put(source(i), i);
        }
    }

    /// Sorts the points of a cell, which the source gives by ascending index, into the positions from `begin` on.
    template <class Source>
    void sort_cell(const Source& source, std::int64_t size, std::int64_t begin, const Extent& cell) {
        const Split top = split_of<T, D>(cell.lower, cell.upper, sign_exponent_);
        if (top.exponent == coincident) {
            put_as_they_are(source, size, begin);
        } else if (size <= cached_size) {
            sort_cached(source, size, begin, CachedKey(top.exponent, sign_exponent_));
        } else {
            split(source, size, begin, PartKey(top.exponent, sign_exponent_));
        }
    }

    /// From the points of each part in each block, block after block, to where they go: behind those of the parts
    /// before, then of the blocks before.
    static void count_before(std::int64_t* counts, std::int64_t blocks, std::int64_t parts) {
        std::vector<std::int64_t> next(parts, 0);
        const auto each_row = [&](auto&& body) { // some parts at a time, so that memory is gone through in order
            parallel_for(0, parts, 64, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t block = 0; block < blocks; ++block) {
                    for (std::int64_t part = first; part < last; ++part) {
                        body(counts[block * parts + part], next[part]);
                    }
                }
            });
        };
        each_row([](std::int64_t count, std::int64_t& sum) { sum += count; });
        std::exclusive_scan(next.begin(), next.end(), next.begin(), std::int64_t{0});
        each_row([](std::int64_t& count, std::int64_t& position) { position += std::exchange(count, position); });
    }

    template <class Source>
    void split(const Source& source, std::int64_t size, std::int64_t begin, const PartKey& key_of) {
        // A bit of every axis at least: the ends of the cell may differ in the last one only.
        const int width = std::clamp(bit_width(static_cast<std::uint64_t>(size / wanted_size)), D, max_digit_bits);
        const int shift = PartKey::bits - width;
        const std::int64_t parts = std::int64_t{1} << width;
        const std::int64_t most_blocks = std::max(64, 4 * context_.threads());
        const std::int64_t blocks =
            size < parallel_size ? 1 : std::min<std::int64_t>(most_blocks, size / (parallel_size / 4));
        const std::int64_t block_size = (size + blocks - 1) / blocks;
        Buffer<std::int64_t> counts(context_.memory_tracker(), blocks * parts);
        DonatedMemory none;
        DonatedMemory& spare = std::is_same_v<Source, FromView> ? spare_ : none; // other splits go on side by side
        Buffer<Record> records = spare.template buffer<Record>(context_.memory_tracker(), size);
        // The sorted indices are written later: their memory holds the part of each point.
        auto* const part_of = reinterpret_cast<std::uint16_t*>(sorted_.indices.data() + begin);
        const auto each_block = [&](auto&& body) {
            parallel_each(blocks, 1, [&](std::int64_t block) {
                const std::int64_t lower = block * block_size;
                body(counts.data() + block * parts, lower, std::min(size, lower + block_size));
            });
        };
        each_block([&](std::int64_t* count, std::int64_t lower, std::int64_t upper) {
            std::fill_n(count, parts, 0);
            key_of.each(source, lower, upper, [&](std::int64_t i, std::uint64_t key) {
                part_of[i] = static_cast<std::uint16_t>(key >> shift);
                ++count[key >> shift];
            });
        });
        count_before(counts.data(), blocks, parts);
        each_block([&](std::int64_t* next, std::int64_t lower, std::int64_t upper) {
            for (std::int64_t i = lower; i < upper; ++i) {
                records[next[part_of[i]]++] = source(i);
            }
        });
        const std::int64_t* ends = counts.data() + (blocks - 1) * parts; // where the last block stopped writing
        parallel_each(parts, std::max<std::int64_t>(1, parts / 256), [&](std::int64_t part) {
            const std::int64_t start = part == 0 ? 0 : ends[part - 1];
            const std::int64_t part_size = ends[part] - start;
            const FromRecords points{records.data() + start};
            if (part_size == size) { // see put_as_they_are
                put_as_they_are(points, size, begin);
            } else if (part_size > 0) {
                sort_cell(points, part_size, begin + start, extent(points, part_size));
            }
        });
    }

    void sort_cached(const FromView& points, std::int64_t size, std::int64_t begin, const CachedKey& key_of) {
        std::vector<Record> records(size);
        for (std::int64_t i = 0; i < size; ++i) {
            records[i] = points(i);
        }
        sort_cached(FromRecords{records.data()}, size, begin, key_of);
    }

    void sort_cached(const FromRecords& source, std::int64_t size, std::int64_t begin, const CachedKey& key_of) {
        constexpr std::uint64_t position_mask = cached_size - 1;
        std::vector<Run> runs; // of equal keys
        {
            Scratch& scratch = scratch_.local();
            scratch.words.resize(cached_size);
            scratch.spare.resize(cached_size);
            std::uint64_t* words = scratch.words.data();
            key_of.each(source, 0, size, [&](std::int64_t i, std::uint64_t key) {
                words[i] = key << position_bits | static_cast<std::uint64_t>(i);
            });
            sort_words(words, scratch.spare.data(), size, CachedKey::bits + position_bits, position_bits);
            const SortedOutput output(sorted_, begin);
            std::uint64_t before = ~words[0];
            for (std::int64_t i = 0; i < size; ++i) {
                output.put(source(static_cast<std::int64_t>(words[i] & position_mask)), i);
                if ((words[i] ^ before) <= position_mask) {
                    if (runs.empty() || runs.back().end != begin + i) {
                        runs.push_back({begin + i - 1, begin + i});
                    }
                    runs.back().end = begin + i + 1;
                }
                before = words[i];
            }
        }
        for (const Run& run : runs) {         // the thread's scratch is free by now
            if (run.end - run.begin < size) { // see put_as_they_are
                finish_run(run.begin, run.end);
            }
        }
    }

    void finish_run(std::int64_t begin, std::int64_t end) {
        const FromSorted points{sorted_, begin};
        const std::int64_t size = end - begin;
        const Extent cell = extent(points, size);
        if (cell.lower == cell.upper) {
            return;
        }
        std::vector<Record> run(size);
        for (std::int64_t i = 0; i < size; ++i) {
            run[i] = points(i);
        }
        if (size > max_compared_run) {
            sort_cell(FromRecords{run.data()}, size, begin, cell);
            return;
        }
        sort_by_comparison(run);
        const SortedOutput output(sorted_, begin);
        for (std::int64_t i = 0; i < size; ++i) {
            output.put(run[i], i);
        }
    }

    [[nodiscard]] bool is_before(const Record& p, const Record& q) const {
        const Split at = split_of<T, D>(p.x, q.x, sign_exponent_);
        return at.exponent == coincident ? p.index < q.index : p.x[at.axis] < q.x[at.axis];
    }

    // By insertion: runs are short, std::sort would be the largest code of the library, and this one ends in some order
    // even if another thread changes the points meanwhile.
    void sort_by_comparison(std::vector<Record>& run) const {
        for (std::size_t i = 1; i < run.size(); ++i) {
            const Record moved = run[i];
            std::size_t position = i;
            for (; position > 0 && is_before(moved, run[position - 1]); --position) {
                run[position] = run[position - 1];
            }
            run[position] = moved;
        }
    }

    Context& context_;
    PointSet<T>& sorted_;
    DonatedMemory spare_;
    PerThread<Scratch> scratch_;
    int sign_exponent_ = 0;
};

} // namespace kith::detail
