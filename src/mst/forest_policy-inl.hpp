// The search for edges out of components, as a policy of the receiver walk.
//
// Receivers are the points whose rows are used up and whose last known distance is within the bound of their component:
// only they can have a better edge. Sources that are the receiver's own component as a whole are dropped for good, all
// others beyond the bound; bounds shrink by what any task finds. Equal distances are never dropped, so that the index
// decides, and answers do not depend on who was first. Where edges are weighed by core distances, weights stand for
// distances in all of this, and nodes whose least core distance is beyond the bound are dropped as well.

#include "mst/forest.hpp"
#include "mst/forest_steps-inl.hpp"
#include "walk/receiver_walk-inl.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(KITH_FOREST_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_FOREST_POLICY_INL_HPP
#undef KITH_FOREST_POLICY_INL_HPP
#else
#define KITH_FOREST_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, class Weight>
class ForestPolicy : public PolicyDefaults {
public:
    using Bound = NodeOfForest<T>;
    using List = InteractionList<T>;

    ForestPolicy(const ForestSearch<T, Weight>& search, ForestScratch<T>& scratch)
        : search_(search), forest_(*search.forest), tree_(*forest_.tree), scratch_(scratch) {
        with_space(search.dimension, search.periodic,
                   [&]<int D, bool Periodic>() { search_point_ = &search_in_space<Periodic, D>; });
    }

    [[nodiscard]] Bound enter(const Bound* /*parent*/, int level, std::int64_t node) const {
        Bound bound = search_.nodes[level][node];
        if (bound.component >= 0) { // others may have found something since
            bound.reach = std::min(bound.reach, bound_of(bound.component));
        }
        return bound;
    }
    [[nodiscard]] bool is_settled(const Bound& bound) const { return bound.reach < 0; }
    [[nodiscard]] T reach(const Bound& bound) const { return bound.reach; }

    void drop_more(List& list, int level, const Bound& bound) const {
        const NodeOfForest<T>* nodes = search_.nodes[level];
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < list.size; ++i) {
            const std::int32_t node = list.nodes[i];
            const std::int32_t component = nodes[node].component;
            list.nodes[kept] = node;
            list.least[kept] = list.least[i];
            list.greatest[kept] = list.greatest[i];
            bool is_kept = component == Bound::several || (component != bound.component && component != Bound::nothing);
            if constexpr (!Weight::is_distance) {
                is_kept = is_kept && search_.cores[level][node] <= bound.reach;
            }
            kept += is_kept ? 1 : 0;
        }
        list.size = kept;
    }

    void finish(std::int64_t leaf, const AnyReceiver<T>& /*box*/, const List& list, const Bound& /*bound*/) {
        sort_leaves(list);
        const PlaneView<T>& leaves = tree_.planes[0];
        for (std::int32_t point = leaves.first_point[leaf]; point < leaves.first_point[leaf + 1]; ++point) {
            const std::int32_t component = forest_.component[point];
            if (forest_.next[point] == row_length && forest_.distance[point] <= bound_of(component)) {
                search_point_(*this, point, component);
            }
        }
    }

private:
    using Tag = hn::ScalableTag<T>;
    using LaneIndex = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    static constexpr std::int64_t vector_padding = static_cast<std::int64_t>(hn::MaxLanes(Tag()));

    struct Found {
        T weight = std::numeric_limits<T>::infinity();
        T distance = std::numeric_limits<T>::infinity(); ///< squared
        std::int32_t index = std::numeric_limits<std::int32_t>::max();
        std::int32_t point = -1;

        [[nodiscard]] HWY_INLINE bool comes_before(const Found& other) const {
            if constexpr (!Weight::is_distance) {
                if (weight != other.weight) {
                    return weight < other.weight;
                }
            }
            return distance < other.distance || (distance == other.distance && index < other.index);
        }
    };

    [[nodiscard]] HWY_INLINE T bound_of(std::int32_t component) const {
        return std::atomic_ref(forest_.bound[component]).load(std::memory_order_relaxed);
    }

    /// The listed leaves, nearest first, with their boxes side by side.
    void sort_leaves(const List& list) {
        auto& near = scratch_.near_leaves;
        near.clear();
        for (std::int64_t i = 0; i < list.size; ++i) {
            near.emplace_back(list.least[i], list.nodes[i]);
        }
        std::sort(near.begin(), near.end());
        const PlaneView<T>& leaves = tree_.planes[0];
        WalkScratch<T>& walk = scratch_.walk;
        stride_ = (list.size + 2 * vector_padding) / vector_padding * vector_padding;
        walk.near_nodes.reserve(stride_);
        walk.lower_corners.reserve(search_.dimension * stride_);
        walk.upper_corners.reserve(search_.dimension * stride_);
        for (std::int64_t i = 0; i < list.size; ++i) {
            walk.near_nodes[i] = near[i].second;
        }
        if constexpr (!Weight::is_distance) {
            scratch_.near_cores.reserve(stride_);
            for (std::int64_t i = 0; i < list.size; ++i) {
                scratch_.near_cores[i] = search_.cores[0][walk.near_nodes[i]];
            }
        }
        for (int axis = 0; axis < search_.dimension; ++axis) {
            for (std::int64_t i = 0; i < list.size; ++i) {
                walk.lower_corners[axis * stride_ + i] = leaves.lower(axis)[walk.near_nodes[i]];
                walk.upper_corners[axis * stride_ + i] = leaves.upper(axis)[walk.near_nodes[i]];
            }
        }
        size_ = list.size;
    }

    template <bool Periodic, int D>
    static void search_in_space(ForestPolicy& policy, std::int32_t point, std::int32_t component) {
        policy.template search<Periodic, D>(point, component);
    }

    /// Finds the point of another component to which the least edge leads, if it is within the bound of its own.
    template <bool Periodic, int D>
    HWY_INLINE void search(std::int32_t point, std::int32_t component) {
        const Tag tag;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const WalkScratch<T>& walk = scratch_.walk;
        Receiver<T, D> position;
        load_point<D>(tree_.points.axis(0) + point, tree_.points.stride, position.lower);
        std::copy_n(position.lower, D, position.upper);
        std::copy_n(tree_.period.data(), D, position.period);
        T limit = bound_of(component);
        Found found;
        for (std::int64_t i = 0; i < size_; i += lanes) {
            const Columns<Tag> lower{tag, walk.lower_corners.data() + i, stride_};
            const Columns<Tag> upper{tag, walk.upper_corners.data() + i, stride_};
            HWY_ALIGN T least[vector_padding];
            auto weights = least_distances<Periodic, D>(tag, position, lower, upper);
            if constexpr (!Weight::is_distance) {
                weights = hn::Max(weights, hn::LoadU(tag, scratch_.near_cores.data() + i));
            }
            hn::Store(weights, tag, least);
            const auto near = hn::And(hn::Le(weights, hn::Set(tag, limit)), hn::FirstN(tag, size_ - i));
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                const std::int32_t leaf = walk.near_nodes[i + lane];
                limit = std::min(limit, bound_of(component));
                if (least[lane] <= limit && search_.nodes[0][leaf].component != component) {
                    search_leaf<Periodic>(position, point, component, leaf, limit, found);
                }
            }
        }
        if (found.weight <= limit) { // or else something nearer to the point may have been passed over
            forest_.rows[std::int64_t{point} * row_length + row_length - 1] = found.point;
            forest_.next[point] = row_length - 1;
            forest_.distance[point] = found.weight;
            offer(forest_, component, point);
        } else {
            forest_.distance[point] = number_after(limit);
        }
    }

    template <bool Periodic, int D>
    HWY_INLINE void search_leaf(const Receiver<T, D>& position, std::int32_t point, std::int32_t component,
                                std::int32_t leaf, T& limit, Found& found) const {
        const std::int64_t begin = tree_.planes[0].first_point[leaf];
        const std::int64_t end = tree_.planes[0].first_point[leaf + 1];
        const Tag tag;
        const hn::Rebind<LaneIndex, Tag> index_tag;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const auto own = hn::Set(index_tag, LaneIndex{component});
        for (std::int64_t i = begin; i < end; i += lanes) {
            const Columns<Tag> others{tag, tree_.points.axis(0) + i, tree_.points.stride};
            const auto distances =
                point_distances<Periodic, D>(tag, position.lower, position.period, others, hn::Zero(tag));
            auto weights = distances;
            if constexpr (!Weight::is_distance) {
                const T* const core = forest_.weigh.core;
                weights = hn::Max(hn::Max(distances, hn::LoadU(tag, core + i)), hn::Set(tag, core[point]));
            }
            const auto is_own = hn::RebindMask(tag, hn::Eq(load_indices(index_tag, forest_.component + i), own));
            const auto in_range = hn::FirstN(tag, end - i);
            const auto near = hn::And(hn::AndNot(is_own, hn::Le(weights, hn::Set(tag, limit))), in_range);
            if (hn::AllFalse(tag, near)) {
                continue;
            }
            HWY_ALIGN T measured[vector_padding];
            HWY_ALIGN T weighed[vector_padding];
            hn::Store(distances, tag, measured);
            hn::Store(weights, tag, weighed);
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                const auto other = static_cast<std::int32_t>(i + lane);
                const Found candidate{weighed[lane], measured[lane], tree_.points.indices[other], other};
                if (candidate.comes_before(found)) {
                    found = candidate;
                    limit = std::min(limit, found.weight);
                }
            }
        }
        lower(forest_.bound[component], found.weight);
    }

    static HWY_INLINE T number_after(T number) {
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        return number < std::numeric_limits<T>::infinity() ? std::bit_cast<T>(std::bit_cast<Bits>(number) + 1) : number;
    }

    const ForestSearch<T, Weight>& search_;
    const Forest<T, Weight>& forest_;
    const TreeView<T>& tree_;
    ForestScratch<T>& scratch_;
    std::int64_t size_ = 0; ///< of the near leaves
    std::int64_t stride_ = 0;
    void (*search_point_)(ForestPolicy& policy, std::int32_t point, std::int32_t component) = nullptr; ///< of the space
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
