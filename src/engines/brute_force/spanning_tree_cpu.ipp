// One scalar type's step of the growing tree for every instruction set; compiled by CMake's
// kith_add_scalar_instances().
#include "engines/brute_force/spanning_tree.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "geometry/distances-inl.hpp"

#include <bit>
#include <tuple>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Lets all points outside see the one that the tree took last. Returns the least weight of an edge to the tree.
template <class T, int D, bool Periodic, bool WithCores>
HWY_NOINLINE T see(const PointsOutside<T>& outside, const TakenPoint<T>& taken) {
    using LaneIndex = typename PointsOutside<T>::LaneIndex;
    const hn::ScalableTag<T> tag;
    const hn::Rebind<LaneIndex, decltype(tag)> index_tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto own = hn::Set(index_tag, LaneIndex{taken.index});
    const auto infinity = hn::Set(tag, std::numeric_limits<T>::infinity());
    auto least = infinity;
    for (std::int64_t i = 0; i < outside.count; i += lanes) {
        const Columns<decltype(tag)> others{tag, outside.coordinates + i, outside.stride};
        const auto distance =
            point_distances<Periodic, D>(tag, taken.coordinates.data(), outside.period.data(), others, hn::Zero(tag));
        const auto before = hn::LoadU(tag, outside.squared + i);
        const auto nearest = hn::LoadU(index_tag, outside.nearest + i);
        const auto is_tie = hn::And(hn::Eq(distance, before), hn::RebindMask(tag, hn::Lt(own, nearest)));
        auto nearer = hn::Or(hn::Lt(distance, before), is_tie);
        auto now = distance;
        if constexpr (WithCores) {
            const auto weight = hn::Max(distance, hn::Max(hn::LoadU(tag, outside.core + i), hn::Set(tag, taken.core)));
            const auto weight_before = hn::LoadU(tag, outside.weight + i);
            nearer = hn::Or(hn::Lt(weight, weight_before), hn::And(hn::Eq(weight, weight_before), nearer));
            now = hn::IfThenElse(nearer, weight, weight_before);
            hn::StoreU(now, tag, outside.weight + i);
            hn::StoreU(hn::IfThenElse(nearer, distance, before), tag, outside.squared + i);
        } else {
            now = hn::IfThenElse(nearer, distance, before);
            hn::StoreU(now, tag, outside.squared + i);
        }
        hn::StoreU(hn::IfThenElse(hn::RebindMask(index_tag, nearer), own, nearest), index_tag, outside.nearest + i);
        const auto in_range = hn::FirstN(tag, outside.count - i);
        least = hn::Min(least, hn::IfThenElse(in_range, now, infinity));
    }
    return hn::GetLane(hn::MinOfLanes(tag, least));
}

/// Of the points whose edges to the tree have this weight, the position of the one whose edge comes first.
template <class T>
HWY_NOINLINE std::int64_t first_of(const PointsOutside<T>& outside, T weight) {
    struct Edge {
        T squared;
        std::pair<std::int32_t, std::int32_t> ends;
        bool operator<(const Edge& other) const {
            return std::tie(squared, ends) < std::tie(other.squared, other.ends);
        }
    };
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
    Edge first{std::numeric_limits<T>::infinity(), {none, none}};
    std::int64_t position = 0;
    for (std::int64_t i = 0; i < outside.count; i += lanes) {
        const auto equal = hn::And(hn::Eq(hn::LoadU(tag, outside.weight + i), hn::Set(tag, weight)),
                                   hn::FirstN(tag, outside.count - i));
        for (unsigned bits = mask_bits(tag, equal); bits != 0; bits &= bits - 1) {
            const std::int64_t at = i + std::countr_zero(bits);
            const auto index = static_cast<std::int32_t>(outside.indices[at]);
            const auto nearest = static_cast<std::int32_t>(outside.nearest[at]);
            const Edge edge{outside.squared[at], std::minmax(index, nearest)};
            if (edge < first) {
                first = edge;
                position = at;
            }
        }
    }
    return position;
}

void next_point_any(const PointsOutside<KITH_SCALAR>& outside, const TakenPoint<KITH_SCALAR>& taken,
                    std::int64_t& position) {
    with_space(outside.dimension, outside.periodic, [&]<int D, bool Periodic>() {
        position = first_of(outside, outside.core != nullptr ? see<KITH_SCALAR, D, Periodic, true>(outside, taken)
                                                             : see<KITH_SCALAR, D, Periodic, false>(outside, taken));
    });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(next_point_any);

std::int64_t next_point(const PointsOutside<KITH_SCALAR>& outside, const TakenPoint<KITH_SCALAR>& taken) {
    std::int64_t position = 0;
    HWY_DYNAMIC_DISPATCH(next_point_any)(outside, taken, position);
    return position;
}

} // namespace kith::detail
#endif
