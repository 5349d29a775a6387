// The source points that can matter to a box, copied side by side into a block.

#include "neighbors/block_kernels-inl.hpp"

#include <cstdint>
#include <limits>

#if defined(KITH_GATHER_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_GATHER_INL_HPP
#undef KITH_GATHER_INL_HPP
#else
#define KITH_GATHER_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Gathers the points of some ranges that lie within the bound of the box.
template <bool Periodic, int D, class T, class Index, class LaneIndex>
GatheredBlock gather_near(const AnyReceiver<T>& given, const PointSource<T, Index>& origin, const IndexRange* ranges,
                          std::int64_t count, const Candidate<T>& bound, ScratchArray<T>& block_memory,
                          ScratchArray<LaneIndex>& index_memory) {
    constexpr std::int64_t vector_padding = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
    const Receiver<T, D> box = in_space<D>(given); // which the stores below cannot touch
    const hn::ScalableTag<T> tag;
    using Tag = decltype(tag);
    const hn::Rebind<LaneIndex, Tag> index_tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        most += ranges[i].last - ranges[i].first;
    }
    const std::int64_t stride = (most + 2 * vector_padding) / vector_padding * vector_padding;
    block_memory.reserve(stride * D);
    index_memory.reserve(stride);
    T* block = block_memory.data();
    LaneIndex* indices = index_memory.data();
    const T* coordinates = origin.coordinates;
    const std::int64_t source_stride = origin.stride;
    const Index* source_indices = origin.indices;
    const bool ties_count = bound.index == std::numeric_limits<std::int32_t>::max();
    const auto limit = hn::Set(tag, bound.distance);
    const auto last_index = hn::Set(index_tag, static_cast<LaneIndex>(bound.index));
    std::int64_t size = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t end = ranges[i].last;
        for (std::int64_t point = ranges[i].first; point < end; point += lanes) {
            const Columns<Tag> position{tag, coordinates + point, source_stride};
            const auto least = least_distances<Periodic, D>(tag, box, position, position);
            const auto index = load_indices(index_tag, source_indices + point);
            auto near = hn::Le(least, limit);
            if (!ties_count) {
                const auto beyond = hn::And(hn::Eq(least, limit), hn::RebindMask(tag, hn::Gt(index, last_index)));
                near = hn::AndNot(beyond, near);
            }
            near = hn::And(near, hn::FirstN(tag, end - point));
            if (D > 3 && hn::AllFalse(tag, near)) { // in fewer dimensions too rare to pay
                continue;
            }
            for (int axis = 0; axis < D; ++axis) {
                compress_store(tag, position(axis), near, block + axis * stride + size);
            }
            size += compress_store(index_tag, index, hn::RebindMask(index_tag, near), indices + size);
        }
    }
    hn::StoreU(hn::Set(tag, std::numeric_limits<T>::quiet_NaN()), tag, block + size);
    return {stride, size};
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
