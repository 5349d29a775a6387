// One scalar type's linking by range queries for every instruction set; compiled by CMake's
// kith_add_scalar_instances().
#include "engines/kdtree/link.hpp"

#include "support/dimension.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include <hwy/foreach_target.h> // must come before highway.h

#include "groups/fof_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic>
class RangeQueries {
    using Node = kdtree::Node;

public:
    explicit RangeQueries(const RangeQueryJob<T>& job)
        : job_(job), tree_(*job.tree), links_(job.links), groups_(job.links.groups),
          nodes_(static_cast<Node>(2 * tree_.leaves - 1)), first_leaf_(static_cast<Node>(tree_.leaves - 1)),
          levels_(kdtree::levels_of(nodes_)) {
        std::copy_n(job.links.period.data(), D, query_.period);
    }

    /// Recursion is as deep as the tree.
    void start(Node node) const {
        if (node < first_leaf_) {
            start(kdtree::left_child(node));
            start(kdtree::right_child(node));
            join_children(node);
            return;
        }
        const std::int32_t begin = first_point(node);
        const std::int32_t end = end_of_leaf(begin);
        for (int axis = 0; axis < D; ++axis) {
            const T* x = job_.links.points.axis(axis);
            const auto [least, greatest] = std::minmax_element(x + begin, x + end);
            lower(axis)[node] = *least;
            upper(axis)[node] = *greatest;
        }
        job_.whole[node] = links_.template link_leaf<Periodic>(begin, end) ? 1 : 0;
    }

    void join_children(Node node) const {
        const Node left = kdtree::left_child(node);
        const Node right = kdtree::right_child(node);
        for (int axis = 0; axis < D; ++axis) {
            lower(axis)[node] = std::min(lower(axis)[left], lower(axis)[right]);
            upper(axis)[node] = std::max(upper(axis)[left], upper(axis)[right]);
        }
        job_.whole[node] = 0;
        if (is_whole(left) && is_whole(right) && greatest_distance_within(node) <= job_.links.squared_length) {
            groups_.unite(first_point(left), first_point(right));
            mark(node);
        }
    }

    void query_earlier(Node node) {
        if (node < first_leaf_) {
            const Node left = kdtree::left_child(node);
            const Node right = kdtree::right_child(node);
            query_earlier(left);
            query_earlier(right);
            if (is_whole(left) && is_whole(right) &&
                groups_.find(first_point(left)) == groups_.find(first_point(right))) {
                mark(node);
            }
            return;
        }
        leaf_ = node;
        const std::int32_t begin = first_point(node);
        const std::int32_t end = end_of_leaf(begin);
        for (point_ = begin; point_ < end; ++point_) {
            load_point<D>(job_.links.points.axis(0) + point_, job_.links.points.stride, query_.lower);
            std::copy_n(query_.lower, D, query_.upper);
            (void)link_earlier(top_level(), kdtree::first_of_level(top_level()), 1 << top_level(), false);
        }
        if (!is_whole(node) && links_.are_one_group(begin, end)) {
            mark(node);
        }
    }

private:
    /// Nodes are looked at `levels_per_step` levels at a time, the descendants of one node as vectors, on levels that
    /// are complete. Those of the last of these are leaves or have two.
    static constexpr int levels_per_step = 3;
    [[nodiscard]] int bottom_level() const { return std::max(levels_ - 2, 0); }
    [[nodiscard]] int top_level() const { return bottom_level() % levels_per_step; }

    /// Links the point of the query with friends in earlier leaves below some nodes of a level, the last ones first. If
    /// one link is enough, it stops there. Returns whether it did.
    bool link_earlier(int level, Node first, int count, bool one_is_enough) const {
        const Node own = own_ancestor(level);
        for (unsigned bits = near(first, count); bits != 0;) {
            const int last = 31 - std::countl_zero(bits);
            bits ^= 1U << last;
            const Node node = first + static_cast<Node>(last);
            if (node > own) {
                continue;
            }
            bool enough = one_is_enough;
            if (!enough && node != own && is_whole(node)) {
                if (is_of_query(node)) {
                    continue;
                }
                enough = true;
            }
            const bool ended = level < bottom_level()
                                   ? link_earlier(level + levels_per_step, ((node + 1) << levels_per_step) - 1,
                                                  1 << levels_per_step, enough)
                               : node >= first_leaf_ ? node != own && link_leaf(node, enough)
                                                     : link_leaves(node, enough);
            if (ended && one_is_enough) {
                return true;
            }
        }
        return false;
    }

    /// The same in the two leaves of a node.
    bool link_leaves(Node parent, bool one_is_enough) const {
        const Node left = kdtree::left_child(parent);
        for (unsigned bits = near(left, 2); bits != 0;) {
            const int last = 31 - std::countl_zero(bits);
            bits ^= 1U << last;
            const Node leaf = left + static_cast<Node>(last);
            // A leaf of the level above comes after all of these.
            if (leaf < leaf_ || kdtree::level_of(leaf_) == bottom_level()) {
                if (link_leaf(leaf, one_is_enough) && one_is_enough) {
                    return true;
                }
            }
        }
        return false;
    }

    bool link_leaf(Node leaf, bool one_is_enough) const {
        const bool whole = is_whole(leaf);
        if (whole && is_of_query(leaf)) {
            return false;
        }
        const std::int32_t begin = first_point(leaf);
        return links_.template link_point<Periodic>(point_, begin, end_of_leaf(begin), whole || one_is_enough);
    }

    /// Which of some nodes, one after the other, may have friends.
    [[nodiscard]] HWY_INLINE unsigned near(Node first, int count) const {
        constexpr hn::CappedTag<T, 1 << levels_per_step> tag;
        constexpr int lanes = static_cast<int>(hn::MaxLanes(tag));
        unsigned bits = 0;
        for (int i = 0; i < count; i += lanes) {
            const Columns<decltype(tag)> lower{tag, job_.lower_corners + first + i, job_.stride};
            const Columns<decltype(tag)> upper{tag, job_.upper_corners + first + i, job_.stride};
            const auto least = least_distances<Periodic, D>(tag, query_, lower, upper);
            bits |= mask_bits(tag, hn::Le(least, hn::Set(tag, job_.links.squared_length))) << i;
        }
        return bits & ((1U << count) - 1);
    }

    [[nodiscard]] T greatest_distance_within(Node node) const {
        const hn::CappedTag<T, 1> one;
        Receiver<T, D> box = query_;
        for (int axis = 0; axis < D; ++axis) {
            box.lower[axis] = lower(axis)[node];
            box.upper[axis] = upper(axis)[node];
        }
        const Columns<decltype(one)> lower{one, job_.lower_corners + node, job_.stride};
        const Columns<decltype(one)> upper{one, job_.upper_corners + node, job_.stride};
        const auto bounds = box_distances<Periodic, D>(one, box, lower, upper,
                                                       Bounds<hn::Vec<decltype(one)>>{hn::Zero(one), hn::Zero(one)});
        return hn::GetLane(bounds.greatest);
    }

    /// Of the level, that the query's leaf is below, or the leaf itself.
    [[nodiscard]] Node own_ancestor(int level) const { return ((leaf_ + 1) >> (kdtree::level_of(leaf_) - level)) - 1; }
    [[nodiscard]] bool is_of_query(Node node) const { return groups_.find(point_) == groups_.find(first_point(node)); }

    [[nodiscard]] std::int32_t first_point(Node node) const {
        const int below = levels_ - 1 - kdtree::level_of(node);
        const std::uint64_t lowest = ((std::uint64_t{node} + 1) << below) - 1;
        const auto leaf = static_cast<Node>(lowest < nodes_ ? lowest : ((std::uint64_t{node} + 1) << (below - 1)) - 1);
        return static_cast<std::int32_t>(leaf_number(leaf, tree_.leaves) * tree_.leaf_size);
    }
    [[nodiscard]] std::int32_t end_of_leaf(std::int32_t begin) const {
        return static_cast<std::int32_t>(std::min<std::int64_t>(begin + tree_.leaf_size, tree_.points.count));
    }

    [[nodiscard]] T* lower(int axis) const { return job_.lower_corners + axis * job_.stride; }
    [[nodiscard]] T* upper(int axis) const { return job_.upper_corners + axis * job_.stride; }
    [[nodiscard]] bool is_whole(Node node) const {
        return std::atomic_ref(job_.whole[node]).load(std::memory_order_relaxed) != 0;
    }
    void mark(Node node) const { std::atomic_ref(job_.whole[node]).store(std::uint8_t{1}, std::memory_order_relaxed); }

    const RangeQueryJob<T>& job_;
    const BucketTree<T>& tree_;
    const FofPolicy<T, D> links_;
    const UnionFind groups_;
    const Node nodes_;
    const Node first_leaf_;
    const int levels_;
    Receiver<T, D> query_{}; ///< a point
    Node leaf_ = 0;          ///< of the query
    std::int32_t point_ = 0;
};

template <class Function>
void with_queries(const RangeQueryJob<KITH_SCALAR>& job, const Function& function) {
    with_space(job.links.dimension, job.links.periodic, [&]<int D, bool Periodic>() {
        RangeQueries<KITH_SCALAR, D, Periodic> queries(job);
        function(queries);
    });
}

void start_groups_any(const RangeQueryJob<KITH_SCALAR>& job, kdtree::Node node) {
    with_queries(job, [&](auto& queries) { queries.start(node); });
}
void join_children_any(const RangeQueryJob<KITH_SCALAR>& job, kdtree::Node node) {
    with_queries(job, [&](auto& queries) { queries.join_children(node); });
}
void query_earlier_any(const RangeQueryJob<KITH_SCALAR>& job, kdtree::Node node) {
    with_queries(job, [&](auto& queries) { queries.query_earlier(node); });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(start_groups_any);
HWY_EXPORT(join_children_any);
HWY_EXPORT(query_earlier_any);

void start_groups(const RangeQueryJob<KITH_SCALAR>& job, kdtree::Node node) {
    HWY_DYNAMIC_DISPATCH(start_groups_any)(job, node);
}
void join_children(const RangeQueryJob<KITH_SCALAR>& job, kdtree::Node node) {
    HWY_DYNAMIC_DISPATCH(join_children_any)(job, node);
}
void query_earlier(const RangeQueryJob<KITH_SCALAR>& job, kdtree::Node node) {
    HWY_DYNAMIC_DISPATCH(query_earlier_any)(job, node);
}

} // namespace kith::detail
#endif
