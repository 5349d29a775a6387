// The survivors of one query: from a block of candidate points to the few that lie within a threshold, in order.
//
// One pass measures all distances, keeps them, and notes the positions of those within the threshold; another threshold
// then costs a pass over the distances alone. Survivors are sorted in registers by a 32-bit key, the upper bits of the
// distance above the survivor's number. Keys whose upper bits are alike may stand for distances in another order: few
// of them are put right afterwards; where they are many, as on a lattice, and where survivors are, the exact sort
// decides.

#include "neighbors/block_kernels-inl.hpp"
#include "neighbors/select-inl.hpp"
#include "neighbors/sort_network-inl.hpp"

#include "neighbors/selection_scratch.hpp"

#include <algorithm>
#include <bit>
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

/// Measures the squared distances from some queries, so many times D numbers, to every point of a block, and notes the
/// positions of those within the threshold, inclusive. The block is followed by a whole vector of NaN on axis 0.
/// Queries that go together share the reading of the block, and none waits for the other.
template <bool Periodic, int D, int Queries, class T>
HWY_INLINE void measure_within(const T* queries, const T* period, const T* block, std::int64_t stride,
                               std::int64_t size, T threshold, Measured<T>* measured) {
    const hn::ScalableTag<T> tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto limit = hn::Set(tag, threshold);
    T position[Queries][D]; // copies, which the stores below cannot touch, stay in registers
    T length[D];
    T* distances[Queries];
    std::int32_t* positions[Queries];
    for (int q = 0; q < Queries; ++q) {
        std::copy_n(queries + q * D, D, position[q]);
        distances[q] = measured[q].distances;
        positions[q] = measured[q].positions;
    }
    std::copy_n(period, D, length);
    for (std::int64_t i = 0; i < size; i += lanes) {
        const Columns<decltype(tag)> sources{tag, block + i, stride};
#pragma GCC unroll 2
        for (int q = 0; q < Queries; ++q) {
            const auto distance = point_distances<Periodic, D>(tag, position[q], length, sources, hn::Zero(tag));
            hn::StoreU(distance, tag, distances[q] + i);
            positions[q] += append_positions(tag, hn::Le(distance, limit), static_cast<std::int32_t>(i), positions[q]);
        }
    }
    for (int q = 0; q < Queries; ++q) {
        measured[q].found = positions[q] - measured[q].positions;
    }
}

/// Another threshold, the distances being known.
template <class T>
HWY_NOINLINE void find_within(Measured<T>& measured, std::int64_t size, T threshold) {
    const hn::ScalableTag<T> tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto limit = hn::Set(tag, threshold);
    const T* distances = measured.distances;
    std::int32_t* positions = measured.positions;
    for (std::int64_t i = 0; i < size; i += lanes) {
        const auto within = hn::Le(hn::LoadU(tag, distances + i), limit);
        positions += append_positions(tag, within, static_cast<std::int32_t>(i), positions);
    }
    measured.found = positions - measured.positions;
}

/// What sort_survivors_at reads and writes.
template <class T, class Index>
struct Survivors {
    Measured<T>& measured; ///< one more distance is written; room for max_sorted_keys and a vector more positions
    std::int64_t block_size;
    const Index* indices; ///< of the block
    T* sorted_distances;  ///< room for eight more, or a vector
    Index* sorted_indices;
    T* spare_distances;
    Index* spare_indices;
    std::vector<Candidate<T>>& spare;
};

/// Makes room to measure some queries against a block, and to select and sort what is near one of them.
template <class T>
void reserve_survivors(SelectionScratch<T>& scratch, std::int64_t block_size, int queries) {
    constexpr auto vector_padding = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
    const std::int64_t room = block_size + 2 * vector_padding;
    for (int q = 0; q < queries; ++q) {
        scratch.distances[q].reserve(room);
        scratch.positions[q].reserve(room + max_sorted_keys + vector_padding);
    }
    scratch.spare_distances.reserve(room);
    scratch.spare_indices.reserve(room);
    scratch.sorted_distances.reserve(room + max_sorted_keys);
    scratch.sorted_indices.reserve(room + max_sorted_keys);
}

/// The lower bits of a key are a survivor's number, the upper ones its distance's.
template <int Keys>
inline constexpr std::uint32_t number_mask = std::bit_ceil(static_cast<unsigned>(Keys)) - 1;

/// Keys of the distances at some positions, whose numbers count from `first`.
template <int Keys, class T>
HWY_INLINE KeyVector make_keys(const T* distances, const std::int32_t* positions, int first) {
    const KeyTag tag;
    HWY_ALIGN float rounded[key_lanes]; // one by one: gather instructions are no faster
    for (int lane = 0; lane < key_lanes; ++lane) {
        rounded[lane] = static_cast<float>(distances[positions[lane]]);
    }
    const auto distance = hn::Load(hn::Rebind<float, KeyTag>(), rounded);
    const auto upper = hn::And(hn::BitCast(tag, distance), hn::Set(tag, ~number_mask<Keys>));
    return hn::Or(upper, numbers_from(tag, static_cast<std::uint32_t>(first)));
}

/// Whether upper bits are alike in one of the first `pairs` pairs of keys that follow each other in a sorted matrix.
template <int Rows>
HWY_INLINE bool have_equal_prefixes(const KeyVector* row, int pairs) {
    const KeyTag tag;
    const hn::Rebind<std::int32_t, KeyTag> signed_tag; // no key has the sign bit, and these compare faster
    const auto numbers = hn::Set(signed_tag, static_cast<std::int32_t>(number_mask<Rows * key_lanes>));
    const auto next_lane = hn::IndicesFromVec(tag, hn::And(numbers_from(tag, 1), hn::Set(tag, key_lanes - 1)));
    const auto first_pairs = hn::Mul(numbers_from(signed_tag, 0), hn::Set(signed_tag, Rows));
    auto alike = hn::Lt(hn::Zero(signed_tag), hn::Zero(signed_tag));
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        const KeyVector next = r + 1 < Rows ? row[r + 1] : hn::TableLookupLanes(row[0], next_lane);
        const auto difference = hn::BitCast(signed_tag, hn::Xor(row[r], next));
        const auto counts = hn::Lt(first_pairs, hn::Set(signed_tag, pairs - r));
        alike = hn::Or(alike, hn::AndNot(hn::Gt(difference, numbers), counts));
    }
    return !hn::AllFalse(signed_tag, alike);
}

/// Hands on the first `wanted` survivors and up to a vector more, from their numbers in a sorted matrix.
template <int Rows, class T, class Index>
HWY_INLINE void take_sorted(const Survivors<T, Index>& survivors, const std::uint32_t* numbers, int first, int wanted) {
    constexpr int some = std::min(8, Rows * key_lanes); // from whole lanes
    const T* distances = survivors.measured.distances;
    const std::int32_t* positions = survivors.measured.positions;
    for (int i = first; i < wanted; i += some, numbers += some / Rows) {
        HWY_ALIGN T some_distances[some]; // written at once, so that they can be read as vectors at once
        HWY_ALIGN Index some_indices[some];
#pragma GCC unroll 8
        for (int j = 0; j < some; ++j) {
            const std::int32_t position = positions[numbers[j % Rows * key_lanes + j / Rows]];
            some_distances[j] = distances[position];
            some_indices[j] = survivors.indices[position];
        }
        const hn::CappedTag<T, some> distance_tag;
        const hn::CappedTag<Index, some> index_tag;
        for (int j = 0; j < some; j += static_cast<int>(hn::Lanes(distance_tag))) {
            hn::StoreU(hn::Load(distance_tag, some_distances + j), distance_tag, survivors.sorted_distances + i + j);
            hn::StoreU(hn::Load(index_tag, some_indices + j), index_tag, survivors.sorted_indices + i + j);
        }
    }
}

/// What is known of survivors that were sorted by keys.
enum class SortOutcome : std::uint8_t {
    all,     ///< they are in order
    members, ///< these are the first ones, but their order may be wrong
    nothing,
};

/// Whether sorted keys, in matrices of so many rows, tell which survivors are the first `wanted`.
template <int Rows, int Keys>
HWY_INLINE bool first_are_known(const std::uint32_t* keys, int wanted, std::int64_t found) {
    return wanted == found ||
           (keys[sorted_position<Rows>(wanted)] ^ keys[sorted_position<Rows>(wanted - 1)]) > number_mask<Keys>;
}

/// Sorts by keys in a matrix of so many rows.
template <int Rows, class T, class Index>
HWY_NOINLINE SortOutcome sort_in_rows(const Survivors<T, Index>& survivors, int wanted) {
    constexpr int room = Rows * key_lanes;
    const KeyTag tag;
    KeyVector row[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        row[r] =
            make_keys<room>(survivors.measured.distances, survivors.measured.positions + r * key_lanes, r * key_lanes);
    }
    sort_rows<Rows>(row);
    KeyVector number[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        number[r] = hn::And(row[r], hn::Set(tag, number_mask<room>));
    }
    HWY_ALIGN std::uint32_t numbers[room];
    store_rows<Rows>(number, numbers);
    take_sorted<Rows>(survivors, numbers, 0, wanted);
    const int pairs = wanted - (wanted == survivors.measured.found ? 1 : 0);
    if (HWY_LIKELY(!have_equal_prefixes<Rows>(row, pairs))) {
        return SortOutcome::all;
    }
    HWY_ALIGN std::uint32_t keys[room];
    store_rows<Rows>(row, keys);
    return first_are_known<Rows, room>(keys, wanted, survivors.measured.found) ? SortOutcome::members
                                                                               : SortOutcome::nothing;
}

/// Sorts by keys in several matrices.
template <int Matrices, class T, class Index>
HWY_NOINLINE SortOutcome sort_in_matrices(const Survivors<T, Index>& survivors, int wanted) {
    constexpr int room = Matrices * matrix_keys;
    const KeyTag tag;
    HWY_ALIGN std::uint32_t keys[room];
    for (int i = 0; i < room; i += key_lanes) {
        hn::Store(make_keys<room>(survivors.measured.distances, survivors.measured.positions + i, i), tag, keys + i);
    }
    sort_matrices<Matrices>(keys);
    const bool known = first_are_known<max_rows, room>(keys, wanted, survivors.measured.found);
    for (int i = 0; i < room; i += key_lanes) {
        hn::Store(hn::And(hn::Load(tag, keys + i), hn::Set(tag, number_mask<room>)), tag, keys + i);
    }
    for (int i = 0; i < wanted; i += matrix_keys) {
        take_sorted<max_rows>(survivors, keys + i, i, std::min(wanted, i + matrix_keys));
    }
    return known ? SortOutcome::members : SortOutcome::nothing;
}

/// Whether each of the first distances is smaller than the next. Reads a vector more.
template <class T>
HWY_INLINE bool strictly_ascend(const T* distances, std::int64_t size) {
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    auto wrong = hn::Lt(hn::Zero(tag), hn::Zero(tag));
    for (std::int64_t i = 0; i + 1 < size; i += lanes) {
        const auto ascends = hn::Lt(hn::LoadU(tag, distances + i), hn::LoadU(tag, distances + i + 1));
        const auto counts = hn::FirstN(tag, size - 1 - i);
        wrong = hn::Or(wrong, hn::AndNot(ascends, counts));
    }
    return hn::AllFalse(tag, wrong);
}

/// Sorts what is almost in order by (distance, index). Gives up, with false, if that takes more steps than there are.
template <class T, class Index>
HWY_NOINLINE bool insertion_sort(T* distances, Index* indices, std::int64_t size) {
    std::int64_t steps = 0;
    for (std::int64_t i = 1; i < size; ++i) {
        const T distance = distances[i];
        const Index index = indices[i];
        std::int64_t position = i;
        for (; position > 0 && (distance < distances[position - 1] ||
                                (distance == distances[position - 1] && index < indices[position - 1]));
             --position) {
            distances[position] = distances[position - 1];
            indices[position] = indices[position - 1];
        }
        distances[position] = distance;
        indices[position] = index;
        steps += i - position;
        if (steps > size) {
            return false;
        }
    }
    return true;
}

/// Sorts by keys of 32 bits. False if keys are too much alike to tell the order of the first `needed`.
template <class T, class Index>
HWY_INLINE bool sort_by_key(const Survivors<T, Index>& survivors, std::int64_t needed) {
    const int count = static_cast<int>(survivors.measured.found);
    const int wanted = static_cast<int>(std::min<std::int64_t>(count, needed));
    const hn::Rebind<std::int32_t, KeyTag> position_tag;
    int rows = 1;
    while (rows * key_lanes < count) {
        rows *= 2;
    }
    // What fills the rows sorts behind everything.
    survivors.measured.distances[survivors.block_size] = std::numeric_limits<T>::quiet_NaN();
    const auto behind = hn::Set(position_tag, static_cast<std::int32_t>(survivors.block_size));
    for (int i = count; i < rows * key_lanes; i += key_lanes) {
        hn::StoreU(behind, position_tag, survivors.measured.positions + i);
    }
    SortOutcome outcome = SortOutcome::nothing;
    switch (rows) {
    case 1:
        outcome = sort_in_rows<1>(survivors, wanted);
        break;
    case 2:
        outcome = sort_in_rows<2>(survivors, wanted);
        break;
    case 4:
        outcome = sort_in_rows<4>(survivors, wanted);
        break;
    default:
        switch (rows / max_rows) {
        case 1:
            outcome = sort_in_rows<max_rows>(survivors, wanted);
            break;
        case 2:
            outcome = sort_in_matrices<2>(survivors, wanted);
            break;
        case 4:
            outcome = sort_in_matrices<4>(survivors, wanted);
            break;
        default:
            outcome = sort_in_matrices<max_matrices>(survivors, wanted);
        }
    }
    return HWY_LIKELY(outcome == SortOutcome::all) ||
           (outcome == SortOutcome::members &&
            (strictly_ascend(survivors.sorted_distances, wanted) ||
             insertion_sort(survivors.sorted_distances, survivors.sorted_indices, wanted)));
}

/// Sorts survivors by (distance, index), at least the first `needed` of them.
template <class T, class Index>
HWY_NOINLINE void sort_survivors_at(const Survivors<T, Index>& survivors, std::int64_t needed) {
    if (HWY_LIKELY(survivors.measured.found <= max_sorted_keys) && sort_by_key(survivors, needed)) {
        return;
    }
    for (std::int64_t i = 0; i < survivors.measured.found; ++i) {
        survivors.spare_distances[i] = survivors.measured.distances[survivors.measured.positions[i]];
        survivors.spare_indices[i] = survivors.indices[survivors.measured.positions[i]];
    }
    sort_survivors(survivors.spare_distances, survivors.spare_indices, survivors.measured.found, needed,
                   survivors.sorted_distances, survivors.sorted_indices, survivors.spare);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
