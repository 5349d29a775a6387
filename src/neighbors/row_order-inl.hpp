// The neighbors of one query within a radius, put in the order that is asked for.
//
// Rows by distance are sorted as those of k nearest neighbors are, while they are short (neighbors/survivors-inl.hpp).
// Long ones, and those by index, are sorted as 64-bit words with a key above the place in the block
// (order/word_sort.hpp).

#include "neighbors/radius.hpp"
#include "neighbors/survivors-inl.hpp"
#include "order/word_sort.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#if defined(KITH_ROW_ORDER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_ROW_ORDER_INL_HPP
#undef KITH_ROW_ORDER_INL_HPP
#else
#define KITH_ROW_ORDER_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Sorts what was measured of a block into the scratch memory, for which reserve_survivors() has made room.
template <class T>
class RowSort {
public:
    using LaneIndex = typename RadiusScratch<T>::LaneIndex;

    RowSort(Measured<T>& measured, std::int64_t block_size, const LaneIndex* block_indices, RadiusScratch<T>& scratch)
        : measured_(measured), block_size_(block_size), block_indices_(block_indices), scratch_(scratch) {}

    /// `sources`: more than the largest index.
    HWY_NOINLINE void sort(std::optional<RowOrder> order, std::int64_t sources) {
        if (!order) {
            keep_order();
        } else if (order == RowOrder::index) {
            sort_by_index(sources);
        } else if (measured_.found <= max_sorted_keys || !sort_by_distance()) {
            sort_survivors_at(Survivors<T, LaneIndex>{measured_, block_size_, block_indices_,
                                                      scratch_.sorted_distances.data(), scratch_.sorted_indices.data(),
                                                      scratch_.spare_distances.data(), scratch_.spare_indices.data(),
                                                      scratch_.candidates},
                              measured_.found);
        }
    }

private:
    void keep_order() {
        for (std::int64_t i = 0; i < measured_.found; ++i) {
            const std::int32_t position = measured_.positions[i];
            scratch_.sorted_distances[i] = measured_.distances[position];
            scratch_.sorted_indices[i] = block_indices_[position];
        }
    }

    /// Sorts by a key of some bits, made of a position in the block; equal keys keep the order of the block.
    template <class Key>
    void sort_by(int key_bits, const Key& key_of) {
        scratch_.words.reserve(measured_.found);
        scratch_.spare_words.reserve(measured_.found);
        std::uint64_t* const words = scratch_.words.data();
        for (std::int64_t i = 0; i < measured_.found; ++i) {
            const auto position = static_cast<std::uint32_t>(measured_.positions[i]);
            words[i] = std::uint64_t{key_of(position)} << 32 | position;
        }
        sort_words(words, scratch_.spare_words.data(), measured_.found, 32 + key_bits, 32);
        for (std::int64_t i = 0; i < measured_.found; ++i) {
            const auto position = static_cast<std::uint32_t>(words[i]);
            scratch_.sorted_distances[i] = measured_.distances[position];
            scratch_.sorted_indices[i] = block_indices_[position];
        }
    }

    void sort_by_index(std::int64_t sources) {
        const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(sources)));
        sort_by(bits, [&](std::uint32_t position) { return static_cast<std::uint32_t>(block_indices_[position]); });
    }

    /// By squared distances rounded to whole numbers, then in truth. False, and unsorted, where too many are alike.
    bool sort_by_distance() {
        constexpr int bits = 31;
        constexpr T most_key = T(2147483000); // less than 2^31 by more than what is rounded
        T farthest = 0;
        for (std::int64_t i = 0; i < measured_.found; ++i) {
            farthest = std::max(farthest, measured_.distances[measured_.positions[i]]);
        }
        const T scale = most_key / farthest;
        if (!(scale <= std::numeric_limits<T>::max())) {
            return false;
        }
        sort_by(bits, [&](std::uint32_t position) {
            return static_cast<std::uint32_t>(measured_.distances[position] * scale);
        });
        return strictly_ascend(scratch_.sorted_distances.data(), measured_.found) ||
               insertion_sort(scratch_.sorted_distances.data(), scratch_.sorted_indices.data(), measured_.found);
    }

    Measured<T>& measured_;
    std::int64_t block_size_;
    const LaneIndex* block_indices_;
    RadiusScratch<T>& scratch_;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
