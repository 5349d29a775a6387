// The survivors of one query: from a block of candidate points to the few that lie within a threshold, in order.
//
// One pass measures all distances, keeps them, and notes the positions of those within the threshold; another threshold
// then costs a pass over the distances alone. A few dozen survivors are sorted in registers by a 32-bit key, the upper
// bits of the distance above the survivor's number. Keys whose upper bits are alike, which is rare unless points lie on
// a lattice, may stand for distances in another order: then, and where survivors are many, the exact sort decides.

#include "knn/select-inl.hpp"
#include "knn/sort_network-inl.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#if defined(KITH_SURVIVORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_SURVIVORS_INL_HPP
#undef KITH_SURVIVORS_INL_HPP
#else
#define KITH_SURVIVORS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Measures the squared distance from a query to every point of a block and notes the positions of those within the
/// threshold, inclusive. The block is followed by a whole vector of NaN on axis 0. Returns how many positions there are;
/// `positions` has room for all and eight more, `distances` for all and a vector more.
template <bool Periodic, int D, class T>
HWY_INLINE std::int64_t measure_within(const T* query, const T* period, const T* block, std::int64_t stride,
                                       std::int64_t size, T threshold, T* distances, std::int32_t* positions) {
    const hn::ScalableTag<T> tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto limit = hn::Set(tag, threshold);
    T place[D]; // copies, which the stores below cannot touch, stay in registers
    T length[D];
    for (int axis = 0; axis < D; ++axis) {
        place[axis] = query[axis];
        length[axis] = period[axis];
    }
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < size; i += lanes) {
        const Columns<decltype(tag)> sources{tag, block + i, stride};
        const auto distance = point_distances<Periodic, D>(tag, place, length, sources, hn::Zero(tag));
        hn::StoreU(distance, tag, distances + i);
        found += append_positions(tag, hn::Le(distance, limit), static_cast<std::int32_t>(i), positions + found);
    }
    return found;
}

/// The positions of the distances within a threshold, inclusive, as measure_within notes them.
template <class T>
HWY_NOINLINE std::int64_t find_within(const T* distances, std::int64_t size, T threshold, std::int32_t* positions) {
    const hn::ScalableTag<T> tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto limit = hn::Set(tag, threshold);
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < size; i += lanes) {
        const auto within = hn::Le(hn::LoadU(tag, distances + i), limit);
        found += append_positions(tag, within, static_cast<std::int32_t>(i), positions + found);
    }
    return found;
}

/// Survivors in the memory of the search: what sort_survivors_at reads and writes.
template <class T, class Index>
struct Survivors {
    T* distances; ///< of the whole block; one more is written
    std::int64_t block_size;
    const Index* indices;
    std::int32_t* positions; ///< room for most_sorted_keys and a vector more
    std::int64_t count;
    T* sorted_distances; ///< room for a vector more
    Index* sorted_indices;
    T* spare_distances;
    Index* spare_indices;
    std::vector<Candidate<T>>& spare;
};

/// The bits of a number are in its lower ones; a distance's upper bits are above.
inline constexpr std::uint32_t number_mask = 63;

/// Keys of the distances at some positions, whose numbers count from `first`.
template <class T>
HWY_INLINE KeyVector make_keys(const T* distances, const std::int32_t* positions, int first) {
    const KeyTag tag;
    const hn::Rebind<float, KeyTag> distance_tag;
    hn::Vec<decltype(distance_tag)> distance;
    if constexpr (sizeof(T) == 4) {
        const hn::Rebind<std::int32_t, KeyTag> position_tag;
        distance = hn::GatherIndex(distance_tag, distances, hn::LoadU(position_tag, positions));
    } else {
        HWY_ALIGN float rounded[key_lanes];
        for (int lane = 0; lane < key_lanes; ++lane) {
            rounded[lane] = static_cast<float>(distances[positions[lane]]);
        }
        distance = hn::Load(distance_tag, rounded);
    }
    const auto upper = hn::And(hn::BitCast(tag, distance), hn::Set(tag, ~number_mask));
    return hn::Or(upper, hn::Iota(tag, static_cast<std::uint32_t>(first)));
}

/// Sorts by keys in so many rows; false if that does not tell which are the first `wanted`.
template <int Rows, class T, class Index>
HWY_NOINLINE bool sort_in_rows(const Survivors<T, Index>& survivors, int wanted) {
    const KeyTag tag;
    KeyVector row[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        row[r] = make_keys(survivors.distances, survivors.positions + r * key_lanes, r * key_lanes);
    }
    sort_rows<Rows>(row);
    HWY_ALIGN std::uint32_t keys[Rows * key_lanes];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        hn::Store(row[r], tag, keys + r * key_lanes);
    }
    for (int i = 0, lane = 0; i < wanted; ++lane) { // whole lanes; room for a vector more is enough
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r, ++i) {
            const std::int32_t position = survivors.positions[keys[r * key_lanes + lane] & number_mask];
            survivors.sorted_distances[i] = survivors.distances[position];
            survivors.sorted_indices[i] = survivors.indices[position];
        }
    }
    if (wanted == survivors.count) {
        return true;
    }
    const auto key = [&keys](int i) { return keys[(i % Rows) * key_lanes + i / Rows]; };
    return (key(wanted) ^ key(wanted - 1)) > number_mask;
}

/// Whether each of the first distances is smaller than the next. Reads a vector more.
template <class T>
HWY_INLINE bool strictly_ascend(const T* distances, std::int64_t size) {
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    auto wrong = hn::Lt(hn::Zero(tag), hn::Zero(tag));
    for (std::int64_t i = 0; i + 1 < size; i += lanes) {
        const auto ascends = hn::Lt(hn::LoadU(tag, distances + i), hn::LoadU(tag, distances + i + 1));
        const auto counts = hn::FirstN(tag, static_cast<std::size_t>(std::min(lanes, size - 1 - i)));
        wrong = hn::Or(wrong, hn::AndNot(ascends, counts));
    }
    return hn::AllFalse(tag, wrong);
}

/// Sorts by keys of 32 bits. False if keys are too much alike to tell the order of the first `needed`.
template <class T, class Index>
HWY_INLINE bool sort_by_key(const Survivors<T, Index>& survivors, std::int64_t needed) {
    const int count = static_cast<int>(survivors.count);
    const int wanted = static_cast<int>(std::min<std::int64_t>(count, needed));
    const hn::Rebind<std::int32_t, KeyTag> position_tag;
    int rows = 1;
    while (rows * key_lanes < count) {
        rows *= 2;
    }
    // What fills the rows sorts behind everything.
    survivors.distances[survivors.block_size] = std::numeric_limits<T>::quiet_NaN();
    const auto behind = hn::Set(position_tag, static_cast<std::int32_t>(survivors.block_size));
    for (int i = count; i < rows * key_lanes; i += key_lanes) {
        hn::StoreU(behind, position_tag, survivors.positions + i);
    }
    bool told = false;
    if (rows == 1) {
        told = sort_in_rows<1>(survivors, wanted);
    } else if (rows == 2) {
        told = sort_in_rows<2>(survivors, wanted);
    } else if (rows == 4) {
        told = sort_in_rows<4>(survivors, wanted);
    } else if constexpr (most_rows == 8) {
        told = sort_in_rows<8>(survivors, wanted);
    }
    return told && strictly_ascend(survivors.sorted_distances, wanted);
}

/// Sorts survivors by (distance, index), at least the first `needed` of them.
template <class T, class Index>
HWY_NOINLINE void sort_survivors_at(const Survivors<T, Index>& survivors, std::int64_t needed) {
    if (HWY_LIKELY(survivors.count <= most_sorted_keys) && sort_by_key(survivors, needed)) {
        return;
    }
    for (std::int64_t i = 0; i < survivors.count; ++i) {
        survivors.spare_distances[i] = survivors.distances[survivors.positions[i]];
        survivors.spare_indices[i] = survivors.indices[survivors.positions[i]];
    }
    sort_survivors(survivors.spare_distances, survivors.spare_indices, survivors.count, needed,
                   survivors.sorted_distances, survivors.sorted_indices, survivors.spare);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
