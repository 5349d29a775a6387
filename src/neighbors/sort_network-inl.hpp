// Sorting 32-bit keys in vector registers: a few dozen at once, a few hundred in blocks of as many.
//
// A bitonic sort on a matrix of keys, a column for each lane and a row for each vector: columns are sorted by a network
// across rows, which needs no shuffles, then columns are merged in pairs, fours and so on. Sorted keys run down the
// columns, one column after the other. There are no branches: the time depends on the number of rows only.
// Source: Batcher, "Sorting networks and their applications" (1968); the networks of four and eight rows are the
// shortest known.

#include "support/simd-inl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(KITH_SORT_NETWORK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_SORT_NETWORK_INL_HPP
#undef KITH_SORT_NETWORK_INL_HPP
#else
#define KITH_SORT_NETWORK_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Eight lanes do: with sixteen, keys take half the rows but more steps across lanes, and sorting takes longer (Zen 4).
using KeyTag = hn::CappedTag<std::uint32_t, 8>;
using KeyVector = hn::Vec<KeyTag>;
inline constexpr int key_lanes = static_cast<int>(hn::MaxLanes(KeyTag()));

/// The most rows of a matrix, eight at most, its keys, and the most keys that are sorted, in several of them. Without
/// lanes these are few.
inline constexpr int max_rows = std::min(8, 64 / key_lanes);
inline constexpr int matrix_keys = max_rows * key_lanes;
inline constexpr int max_matrices = 8;
inline constexpr int max_sorted_keys = max_matrices * matrix_keys;

HWY_INLINE void exchange(KeyVector& a, KeyVector& b) {
    const KeyVector device_min = hn::Min(a, b);
    b = hn::Max(a, b);
    a = device_min;
}

template <int Rows>
HWY_INLINE void sort_columns(KeyVector* row) {
    static_assert(Rows == 1 || Rows == 2 || Rows == 4 || Rows == 8);
    if constexpr (Rows == 8) {
        exchange(row[0], row[1]), exchange(row[2], row[3]), exchange(row[4], row[5]), exchange(row[6], row[7]);
        exchange(row[0], row[2]), exchange(row[1], row[3]), exchange(row[4], row[6]), exchange(row[5], row[7]);
        exchange(row[1], row[2]), exchange(row[5], row[6]), exchange(row[0], row[4]), exchange(row[3], row[7]);
        exchange(row[1], row[5]), exchange(row[2], row[6]);
        exchange(row[1], row[4]), exchange(row[3], row[6]);
        exchange(row[2], row[4]), exchange(row[3], row[5]);
        exchange(row[3], row[4]);
    } else if constexpr (Rows == 4) {
        exchange(row[0], row[1]), exchange(row[2], row[3]);
        exchange(row[0], row[2]), exchange(row[1], row[3]);
        exchange(row[1], row[2]);
    } else if constexpr (Rows == 2) {
        exchange(row[0], row[1]);
    }
}

/// Sorts bitonic columns; the first comparison is between rows `Distance` apart.
template <int Rows, int Distance>
HWY_INLINE void merge_rows(KeyVector* row) {
    if constexpr (Distance >= 1) {
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
            if ((r & Distance) == 0) {
                exchange(row[r], row[r + Distance]);
            }
        }
        merge_rows<Rows, Distance / 2>(row);
    }
}

#if HWY_TARGET != HWY_SCALAR

/// Lanes in the opposite order within groups of `Group`.
template <int Group>
HWY_INLINE KeyVector reversed(KeyVector v) {
    const KeyTag tag;
    if constexpr (Group == key_lanes) {
        return hn::Reverse(tag, v);
    } else if constexpr (Group == 2) {
        return hn::Reverse2(tag, v);
    } else if constexpr (Group == 4) {
        return hn::Reverse4(tag, v);
    } else {
        static_assert(Group == 8);
        return hn::Reverse8(tag, v);
    }
}

/// Lane i gets what was in the lane whose number differs in one bit, the one of `Distance`.
template <int Distance>
HWY_INLINE KeyVector swapped(KeyVector v) {
    if constexpr (2 * Distance == key_lanes) {
        return hn::ConcatLowerUpper(KeyTag(), v, v);
    } else if constexpr (Distance == 1) {
        return hn::Reverse2(KeyTag(), v);
    } else if constexpr (Distance == 2) {
        return hn::Shuffle1032(v);
    } else {
        return reversed<Distance>(reversed<2 * Distance>(v));
    }
}

/// `upper` in the lanes whose number has the bit of `Distance`, `lower` in the others.
template <int Distance>
HWY_INLINE KeyVector blended(KeyVector lower, KeyVector upper) {
    const KeyTag tag;
    if constexpr (2 * Distance == key_lanes) {
        return hn::ConcatUpperLower(tag, upper, lower);
    } else if constexpr (Distance == 1) {
        return hn::OddEven(upper, lower);
    } else if constexpr (Distance == 2) {
        const hn::Repartition<std::uint64_t, KeyTag> pairs;
        return hn::BitCast(tag, hn::OddEven(hn::BitCast(pairs, upper), hn::BitCast(pairs, lower)));
    } else {
        return hn::OddEvenBlocks(upper, lower);
    }
}

/// Sorts bitonic runs of `Columns` whole columns; the first comparison is between lanes `Distance` apart.
template <int Rows, int Distance>
HWY_INLINE void merge_lanes(KeyVector* row) {
    if constexpr (Distance >= 1) {
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
            const KeyVector other = swapped<Distance>(row[r]);
            row[r] = blended<Distance>(hn::Min(row[r], other), hn::Max(row[r], other));
        }
        merge_lanes<Rows, Distance / 2>(row);
    }
}

/// Merges sorted runs of `Columns` columns two by two, until one is left.
template <int Rows, int Columns>
HWY_INLINE void merge_columns(KeyVector* row) {
    if constexpr (Columns < key_lanes) {
        KeyVector merged[Rows];
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) { // the second run backwards, beside the first: both halves become bitonic
            const KeyVector other = reversed<2 * Columns>(row[Rows - 1 - r]);
            merged[r] = blended<Columns>(hn::Min(row[r], other), hn::Max(row[r], other));
        }
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
            row[r] = merged[r];
        }
        merge_lanes<Rows, Columns / 2>(row);
        merge_rows<Rows, Rows / 2>(row);
        merge_columns<Rows, 2 * Columns>(row);
    }
}

#endif

/// Sorts a matrix of keys. The i-th smallest is then in row i % Rows, lane i / Rows.
template <int Rows>
HWY_INLINE void sort_rows(KeyVector* row) {
    sort_columns<Rows>(row);
#if HWY_TARGET != HWY_SCALAR
    merge_columns<Rows, 1>(row);
#endif
}

/// Where the i-th smallest key is in memory, of matrices of so many rows that lie one after the other.
template <int Rows>
constexpr int sorted_position(int i) {
    const int within = i % (Rows * key_lanes);
    return i - within + within % Rows * key_lanes + within / Rows;
}

template <int Rows>
HWY_INLINE void load_rows(const std::uint32_t* keys, KeyVector* row) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        row[r] = hn::Load(KeyTag(), keys + std::ptrdiff_t{r} * key_lanes);
    }
}

template <int Rows>
HWY_INLINE void store_rows(const KeyVector* row, std::uint32_t* keys) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        hn::Store(row[r], KeyTag(), keys + std::ptrdiff_t{r} * key_lanes);
    }
}

/// Sorts a bitonic run of so many matrices, one after the other in memory.
template <int Matrices>
HWY_INLINE void merge_matrices(std::uint32_t* keys) {
    constexpr std::ptrdiff_t half = std::ptrdiff_t{Matrices / 2} * matrix_keys;
    const KeyTag tag;
    if constexpr (Matrices == 1) {
        KeyVector row[max_rows];
        load_rows<max_rows>(keys, row);
#if HWY_TARGET != HWY_SCALAR
        merge_lanes<max_rows, key_lanes / 2>(row);
#endif
        merge_rows<max_rows, max_rows / 2>(row);
        store_rows<max_rows>(row, keys);
    } else {
        std::uint32_t* second = keys + half;
        for (std::ptrdiff_t i = 0; i < half; i += key_lanes) {
            KeyVector a = hn::Load(tag, keys + i);
            KeyVector b = hn::Load(tag, second + i);
            exchange(a, b);
            hn::Store(a, tag, keys + i);
            hn::Store(b, tag, second + i);
        }
        merge_matrices<Matrices / 2>(keys);
        merge_matrices<Matrices / 2>(second);
    }
}

/// Sorts so many matrices of max_rows rows, one after the other in aligned memory, across their bounds.
template <int Matrices>
HWY_NOINLINE void sort_matrices(std::uint32_t* keys) {
    constexpr std::ptrdiff_t half = std::ptrdiff_t{Matrices / 2} * matrix_keys;
    const KeyTag tag;
    if constexpr (Matrices == 1) {
        KeyVector row[max_rows];
        load_rows<max_rows>(keys, row);
        sort_rows<max_rows>(row);
        store_rows<max_rows>(row, keys);
    } else {
        std::uint32_t* second = keys + half;
        sort_matrices<Matrices / 2>(keys);
        sort_matrices<Matrices / 2>(second);
        // The second run backwards, beside the first: both halves become bitonic, the second half backwards.
        std::uint32_t* last = keys + 2 * half - key_lanes;
        for (std::ptrdiff_t i = 0; i < half; i += key_lanes) {
            KeyVector a = hn::Load(tag, keys + i);
            KeyVector b = hn::Reverse(tag, hn::Load(tag, last - i));
            exchange(a, b);
            hn::Store(a, tag, keys + i);
            hn::Store(hn::Reverse(tag, b), tag, last - i);
        }
        merge_matrices<Matrices / 2>(keys);
        merge_matrices<Matrices / 2>(second);
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
