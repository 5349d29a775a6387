// The nearest points of a block for the queries of a warp, one or more lanes for each.
//
// A lane measures every point of the block, or where rows are few its share of them, and keeps those within the row's
// threshold as 32-bit keys in its own column of shared memory: the upper bits of the squared distance above the point's
// position in the block. Keys then go through registers in groups as long as the list; a network without branches sorts
// each and merges it into the list of the least. Where a column is full before the block ends, its list alone remains,
// the k-th key becomes the threshold, and the lanes go on. Lanes with one row then merge their lists in the same way.
// Upper bits that are alike may stand for distances in another order: the distances of the list are computed again, and
// neighbors out of order by (squared distance, index) exchanged. Where the upper bits of the last key are those of a
// key that the list has no room for, the list may be another, and its lane says so.
//
// Cost: some 13 instructions a point, 300 a group of 16 keys, for all lanes together; 130 for each halving of the rows.
// Source: Batcher, "Sorting networks and their applications" (1968).
#pragma once

#include "geometry/distances_kernel.hpp"
#include "neighbors/leaf_block.hpp"
#include "neighbors/warp_row.hpp"

#include <bit>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// The upper bits of a squared distance, which order as it does, above a position: that of the first of points that are
/// measured together, and which of them it is. Where the latter is a constant, this is one logic instruction of three
/// numbers.
template <class T>
__device__ std::uint32_t position_key(T squared, int first, int number) {
    constexpr std::uint32_t position_bits = max_positions - 1;
    constexpr std::uint32_t number_bits = points_at_once - 1;
    static_assert(std::has_single_bit(std::uint32_t{points_at_once}));
    std::uint32_t upper = 0;
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
        upper = std::bit_cast<std::uint32_t>(squared);
    } else {
        upper = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(squared) >> 32);
    }
    const std::uint32_t last = static_cast<std::uint32_t>(first) | number_bits;
    return ((upper | last) & (~position_bits | (number_bits ^ static_cast<std::uint32_t>(number)))) ^ last;
}

/// The greatest squared distance with the upper bits of such a key.
template <class T>
__device__ T greatest_with_key(std::uint32_t key) {
    const std::uint32_t upper = key | (max_positions - 1U);
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
        return std::bit_cast<T>(upper);
    } else {
        return std::bit_cast<T>(std::uint64_t{upper} << 32 | ~std::uint32_t{0});
    }
}

__device__ inline void exchange(std::uint32_t& a, std::uint32_t& b) {
    const std::uint32_t lesser = device_min(a, b);
    b = device_max(a, b);
    a = lesser;
}

/// Merges the two sorted halves of the keys from First on that are Step apart.
template <int First, int Count, int Step>
__device__ __forceinline__ void merge_odd_even(std::uint32_t* keys) {
    if constexpr (2 * Step < Count) {
        merge_odd_even<First, Count, 2 * Step>(keys);
        merge_odd_even<First + Step, Count, 2 * Step>(keys);
#pragma unroll
        for (int i = First + Step; i + Step < First + Count; i += 2 * Step) {
            exchange(keys[i], keys[i + Step]);
        }
    } else {
        exchange(keys[First], keys[First + Step]);
    }
}

template <int First, int Count>
__device__ __forceinline__ void sort_keys(std::uint32_t* keys) {
    if constexpr (Count > 1) {
        sort_keys<First, Count / 2>(keys);
        sort_keys<First + Count / 2, Count / 2>(keys);
        merge_odd_even<First, Count, 1>(keys);
    }
}

/// Sorts keys that ascend and then descend, or the other way round.
template <int Count, int Distance>
__device__ __forceinline__ void merge_bitonic(std::uint32_t* keys) {
    if constexpr (Distance >= 1) {
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            if ((i & Distance) == 0) {
                exchange(keys[i], keys[i + Distance]);
            }
        }
        merge_bitonic<Count, Distance / 2>(keys);
    }
}

/// Lists of up to List neighbors, a power of two of at most 32. All members are called by the whole warp.
template <class T, int D, bool Periodic, int List>
class LaneLists {
public:
    using Query = DevicePoint<T, D, Periodic>;
    using Memory = LeafMemory<T, D, List>;
    static constexpr int capacity = Memory::max_collected;

    /// For a block of so many points, which others follow that are infinitely far, and so many rows, a power of two.
    __device__ LaneLists(Memory& memory, int block_size, int rows)
        : memory_(memory), lane_(static_cast<int>(threadIdx.x) % warp_size), block_size_(block_size), rows_(rows),
          first_(lane_ / rows * points_at_once), stride_(warp_size / rows * points_at_once),
          no_key_(~(max_positions - 1U) | static_cast<std::uint32_t>(block_size)) {}

    /// Which of the rows is the lane's.
    [[nodiscard]] __device__ int row() const { return lane_ % rows_; }

    /// Selects, of the points within the threshold of each lane's row but one of this index, the nearest k or more.
    /// Returns how many that are; `is_sure` is false where they may be others.
    __device__ int select(const Query& query, std::int32_t excluded, T threshold, int k, bool& is_sure) {
        std::uint32_t list[List];
        std::uint32_t least_beyond = no_key_;
        int count = 0;
        for (int start = 0;;) {
            start = collect(query, excluded, threshold, start, count);
            reduce(list, count, least_beyond);
            if (start >= block_size_) {
                break;
            }
            // A column is full: it keeps the list alone, and takes what may come before its k-th.
#pragma unroll
            for (int i = 0; i < List; ++i) {
                memory_.words[i * warp_size + lane_] = list[i];
            }
            threshold = count < k ? threshold : greatest_with_key<T>(memory_.words[(k - 1) * warp_size + lane_]);
            count = device_min(count, List);
        }
        for (int lanes = rows_; lanes < warp_size; lanes *= 2) { // the lists of a row become one
            std::uint32_t others[List];
#pragma unroll
            for (int i = 0; i < List; ++i) {
                others[i] = __shfl_xor_sync(whole_warp, list[i], lanes);
            }
            least_beyond = device_min(least_beyond, __shfl_xor_sync(whole_warp, least_beyond, lanes));
            merge(list, others, least_beyond);
            count += __shfl_xor_sync(whole_warp, count, lanes);
        }
        __syncwarp(); // columns become rows
        put_rows(query, list);
        __syncwarp();
        is_sure = least_beyond == no_key_ || (list[List - 1] ^ least_beyond) >= max_positions;
        return count;
    }

    /// A neighbor of the list that was selected for a row.
    __device__ RankKey<T> neighbor(int row, int rank) {
        const int at = row * row_stride + rank;
        const auto index = static_cast<std::int32_t>(static_cast<std::uint32_t>(memory_.words[at]));
        const std::uint32_t upper = memory_.words[row_words + at];
        if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
            return {std::bit_cast<T>(upper), index};
        } else {
            const std::uint32_t lower = memory_.words[2 * row_words + at];
            return {std::bit_cast<T>(std::uint64_t{upper} << 32 | lower), index};
        }
    }

private:
    static constexpr int row_stride = List + 1; ///< odd, so that lanes write to different banks
    static constexpr int row_words = warp_size * row_stride;

    /// Collects from a position of the block on, until the block ends or a column is full. Returns the position that is
    /// next.
    __device__ __forceinline__ int collect(const Query& query, std::int32_t excluded, T threshold, int start,
                                           int& count) {
        constexpr int read_together = 4; // or else each would wait for the key before it
        constexpr int together = points_at_once;
        const int after_last = (block_size_ + together - 1) / together * together;
        const SharedPlace begin(memory_.words, lane_);
        const SharedPlace end = begin + (capacity + 1) * warp_size; // of what may be there before the next look at it
        SharedPlace to = begin + count * warp_size;
        for (; start < block_size_ && __all_sync(whole_warp, to < end); start += stride_) {
            const int from = device_min(start + first_, after_last);
#pragma unroll
            for (int first = 0; first < points_at_once; first += read_together) {
                BlockPoint<T, D> points[read_together];
#pragma unroll
                for (int i = 0; i < read_together; ++i) {
                    points[i] = memory_.points[from + first + i];
                }
#pragma unroll
                for (int i = 0; i < read_together; ++i) {
                    const T squared = query.squared_distance([&](int axis) { return points[i].x[axis]; });
                    if (squared <= threshold && points[i].index != excluded) {
                        to.write(position_key(squared, from, first + i));
                        to = to + warp_size;
                    }
                }
            }
        }
        count = (to - begin) / warp_size;
        return start;
    }

    /// The least of so many keys in each lane's column, sorted, and the least of those that the list has no room for.
    __device__ __forceinline__ void reduce(std::uint32_t (&list)[List], int count, std::uint32_t& least_beyond) {
        load_group(list, 0, count);
        sort_keys<0, List>(list);
        const int most = __reduce_max_sync(whole_warp, count);
        for (int start = List; start < most; start += List) {
            std::uint32_t group[List];
            load_group(group, start, count);
            sort_keys<0, List>(group);
            merge(list, group, least_beyond);
        }
    }

    /// Makes a sorted list the least of itself and another, and notes the least of those that it has no room for.
    __device__ __forceinline__ static void merge(std::uint32_t (&list)[List], const std::uint32_t (&others)[List],
                                                 std::uint32_t& least_beyond) {
#pragma unroll
        for (int i = 0; i < List; ++i) {
            std::uint32_t farther = others[List - 1 - i];
            exchange(list[i], farther);
            least_beyond = device_min(least_beyond, farther);
        }
        merge_bitonic<List, List / 2>(list);
    }

    __device__ __forceinline__ void load_group(std::uint32_t (&group)[List], int start, int count) {
#pragma unroll
        for (int i = 0; i < List; ++i) {
            group[i] = no_key_;
            if (start + i < count) {
                group[i] = memory_.words[(start + i) * warp_size + lane_];
            }
        }
    }

    /// Puts the list, in its exact order, into the row.
    __device__ __forceinline__ void put_rows(const Query& query, const std::uint32_t (&list)[List]) {
        RankKey<T> nearest[List];
        int ascends = 1;
#pragma unroll
        for (int i = 0; i < List; ++i) {
            const BlockPoint<T, D> point = memory_.points[static_cast<int>(list[i] % max_positions)];
            nearest[i] = {query.squared_distance([&](int axis) { return point.x[axis]; }), point.index};
            if (i > 0) { // without a branch
                ascends &= static_cast<int>(nearest[i - 1].squared() < nearest[i].squared()) |
                           static_cast<int>(list[i] == no_key_);
            }
        }
        while (__all_sync(whole_warp, ascends) == 0) {
            ascends = 1;
#pragma unroll
            for (int parity = 0; parity < 2; ++parity) {
#pragma unroll
                for (int i = parity; i + 1 < List; i += 2) {
                    const RankKey<T> a = nearest[i];
                    const RankKey<T> b = nearest[i + 1];
                    const bool exchanges = b < a;
                    nearest[i] = RankKey<T>::either(exchanges, b, a);
                    nearest[i + 1] = RankKey<T>::either(exchanges, a, b);
                    ascends &= static_cast<int>(!exchanges);
                }
            }
        }
        if (lane_ >= rows_) {
            return; // the lane of that row has the same list
        }
#pragma unroll
        for (int i = 0; i < List; ++i) {
            const int at = lane_ * row_stride + i;
            memory_.words[at] = static_cast<std::uint32_t>(nearest[i].index());
            if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
                memory_.words[row_words + at] = std::bit_cast<std::uint32_t>(nearest[i].squared());
            } else {
                const auto bits = std::bit_cast<std::uint64_t>(nearest[i].squared());
                memory_.words[row_words + at] = static_cast<std::uint32_t>(bits >> 32);
                memory_.words[2 * row_words + at] = static_cast<std::uint32_t>(bits);
            }
        }
    }

    Memory& memory_;
    int lane_;
    int block_size_;
    int rows_;
    int first_;            ///< where the lane begins in the block
    int stride_;           ///< from the points that all lanes of a row look at together to the next
    std::uint32_t no_key_; ///< after every key: that of the point at infinity
};

} // namespace kith::detail::inline KITH_GPU
