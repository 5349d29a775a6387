// The last step of a neighbor search: from a block of candidate points to the k nearest of one query, in order.
//
// One pass over the block keeps what lies within a threshold; the survivors, a few more than k, are sorted by rank: a
// survivor's place is the number of those before it, counted a vector at a time without a chain of dependent exchanges.
// Ties in distance are put in order of index afterwards, since they are rare. Many survivors are first cut down to k by
// partition.

#include "geometry/distances-inl.hpp"

#include "neighbors/candidate.hpp"

#include <algorithm>
#include <vector>

#if defined(KITH_SELECT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_SELECT_INL_HPP
#undef KITH_SELECT_INL_HPP
#else
#define KITH_SELECT_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Keeps the points of a block within a threshold, inclusive. The block is followed by a whole vector of NaN on axis 0,
/// which is never within anything, or its size is a multiple of the vector's. Returns how many survive; `distances` and
/// `indices` have room for all and a vector more.
template <bool Periodic, int D, class T, class Index, class BlockIndex>
HWY_INLINE std::int64_t keep_within(const T* query, const T* period, const T* block, std::int64_t stride,
                                    const BlockIndex* block_indices, std::int64_t size, T threshold, T* distances,
                                    Index* indices) {
    const hn::ScalableTag<T> tag;
    const hn::Rebind<Index, decltype(tag)> index_tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto limit = hn::Set(tag, threshold);
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < size; i += lanes) {
        const Columns<decltype(tag)> sources{tag, block + i, stride};
        const auto distance = point_distances<Periodic, D>(tag, query, period, sources, hn::Zero(tag));
        const auto within = hn::Le(distance, limit);
        compress_store(index_tag, load_indices(index_tag, block_indices + i), hn::RebindMask(index_tag, within),
                       indices + kept);
        kept += compress_store(tag, distance, within, distances + kept);
    }
    return kept;
}

/// Sorts `size` survivors by distance into `sorted_*`; equal distances keep their order.
template <class T, class Index>
HWY_NOINLINE void sort_by_rank(const T* distances, const Index* indices, std::int64_t size, T* sorted_distances,
                               Index* sorted_indices) {
    const hn::ScalableTag<T> tag;
    const hn::Rebind<Index, decltype(tag)> index_tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    HWY_ALIGN Index ranks[hn::MaxLanes(hn::ScalableTag<T>())];
    for (std::int64_t i = 0; i < size; i += lanes) {
        const auto mine = hn::LoadU(tag, distances + i);
        auto rank = hn::Zero(index_tag);
        const std::int64_t own_end = std::min(i + lanes, size);
        for (std::int64_t j = 0; j < i; ++j) { // an earlier one with the same distance goes first
            const auto before = hn::Le(hn::Set(tag, distances[j]), mine);
            rank = hn::Sub(rank, hn::VecFromMask(index_tag, hn::RebindMask(index_tag, before)));
        }
        const auto lane = numbers_from(index_tag, static_cast<Index>(i));
        for (std::int64_t j = i; j < own_end; ++j) {
            const auto other = hn::Set(tag, distances[j]);
            const auto earlier = hn::RebindMask(tag, hn::Lt(hn::Set(index_tag, static_cast<Index>(j)), lane));
            const auto before = hn::Or(hn::Lt(other, mine), hn::And(hn::Eq(other, mine), earlier));
            rank = hn::Sub(rank, hn::VecFromMask(index_tag, hn::RebindMask(index_tag, before)));
        }
        for (std::int64_t j = own_end; j < size; ++j) {
            const auto before = hn::Lt(hn::Set(tag, distances[j]), mine);
            rank = hn::Sub(rank, hn::VecFromMask(index_tag, hn::RebindMask(index_tag, before)));
        }
        hn::Store(rank, index_tag, ranks);
        for (std::int64_t j = i; j < own_end; ++j) {
            sorted_distances[ranks[j - i]] = distances[j];
            sorted_indices[ranks[j - i]] = indices[j];
        }
    }
}

/// Sorts the survivors by (distance, index) into `sorted_*`, at least their first k.
template <class T, class Index>
HWY_INLINE void sort_survivors(T* distances, Index* indices, std::int64_t size, std::int64_t k, T* sorted_distances,
                               Index* sorted_indices, std::vector<Candidate<T>>& spare) {
    constexpr std::int64_t max_ranked = 320; // beyond, counting all pairs costs more than sorting
    if (size > max_ranked) {
        sort_many(distances, indices, size, k, sorted_distances, sorted_indices, spare);
        return;
    }
    sort_by_rank(distances, indices, size, sorted_distances, sorted_indices);
    for (std::int64_t i = 1; i < size; ++i) {
        if (HWY_UNLIKELY(sorted_distances[i] == sorted_distances[i - 1])) {
            order_ties(sorted_distances, sorted_indices, size);
            break;
        }
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
