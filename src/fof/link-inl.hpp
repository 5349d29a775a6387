// Friends-of-friends links by a dual walk of the plane tree with itself, depth first.
//
// Problem: join every two points within the linking length. Method (jz-tree paper, section IV-A): each unordered pair
// of nodes is met once, from the earlier node. A pair farther apart than the linking length is dropped; a pair whose
// every two points are within it is joined whole and dropped; a pair of nodes that are each one group already, and the
// same, is dropped; the rest goes down a plane. A node whose own diagonal is within the linking length is one group at
// once. Pairs of leaves compare points, a vector at a time, only those near the other leaf's box, and stop at the first
// link if both leaves are one group each. Bounds use the same operations as distances, so nothing needs slack.

#include "walk/distances-inl.hpp"

#include "fof/link.hpp"

#include <algorithm>
#include <atomic>

#if defined(KITH_LINK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_LINK_INL_HPP
#undef KITH_LINK_INL_HPP
#else
#define KITH_LINK_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic>
class PointLinker {
public:
    explicit PointLinker(const LinkJob<T>& job)
        : points_(*job.points), groups_(job.groups), limit_(job.squared_length) {
        for (int axis = 0; axis < D; ++axis) {
            period_[axis] = points_.frame.working_period[axis];
        }
    }

    /// Joins one point with all of [begin, end) within the linking length. Returns whether there was one; stops at the
    /// first if one is enough.
    HWY_INLINE bool link_point(std::int32_t point, std::int64_t begin, std::int64_t end, bool one_is_enough) const {
        const Tag tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        T place[D];
        for (int axis = 0; axis < D; ++axis) {
            place[axis] = points_.axis(axis)[point];
        }
        bool linked = false;
        for (std::int64_t i = begin; i < end; i += lanes) {
            const Columns<Tag> others{tag, points_.axis(0) + i, points_.stride};
            const auto distance = point_distances<Periodic, D>(tag, place, period_, others, hn::Zero(tag));
            const auto in_range = hn::FirstN(tag, static_cast<std::size_t>(std::min(lanes, end - i)));
            const auto near = hn::And(hn::Le(distance, hn::Set(tag, limit_)), in_range);
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                groups_.unite(point, static_cast<std::int32_t>(i + std::countr_zero(bits)));
                linked = true;
                if (one_is_enough) {
                    return true;
                }
            }
        }
        return linked;
    }

    /// All pairs within [begin, end).
    HWY_INLINE void link_within(std::int64_t begin, std::int64_t end) const {
        for (std::int64_t i = begin; i + 1 < end; ++i) {
            link_point(static_cast<std::int32_t>(i), i + 1, end, false);
        }
    }

protected:
    using Tag = hn::ScalableTag<T>;

    const PointSet<T>& points_;
    const UnionFind groups_;
    const T limit_;
    T period_[D];
};

template <class T, int D, bool Periodic>
class TreeLinker : private PointLinker<T, D, Periodic> {
public:
    TreeLinker(const LinkJob<T>& job, LinkScratch& scratch)
        : PointLinker<T, D, Periodic>(job), tree_(*job.tree), whole_(job.whole), scratch_(scratch) {
        if (scratch.lists.size() < tree_.planes.size()) {
            scratch.lists.resize(tree_.planes.size());
        }
    }

    void link(std::int64_t node) {
        const int top = tree_.top();
        const Plane<T>& plane = tree_.planes[top];
        std::vector<std::int32_t>& list = scratch_.lists[top];
        list.clear();
        start_receiver(top, static_cast<std::int32_t>(node));
        add_sources(list, plane, top, static_cast<std::int32_t>(node), static_cast<std::int32_t>(plane.nodes));
        descend(top, static_cast<std::int32_t>(node));
    }

private:
    using typename PointLinker<T, D, Periodic>::Tag;
    using PointLinker<T, D, Periodic>::points_;
    using PointLinker<T, D, Periodic>::groups_;
    using PointLinker<T, D, Periodic>::limit_;
    using PointLinker<T, D, Periodic>::period_;
    using PointLinker<T, D, Periodic>::link_point;
    using PointLinker<T, D, Periodic>::link_within;

    struct ReceivingNode {
        Receiver<T, D> box;
        std::int32_t node;
        std::int32_t first_point;
        bool whole;
    };

    /// The receiving node has its list of sources on the same plane.
    void descend(int level, std::int32_t node) {
        const Plane<T>& plane = tree_.planes[level];
        const std::vector<std::int32_t>& sources = scratch_.lists[level];
        if (level == 0) {
            for (const std::int32_t source : sources) {
                link_leaves(node, source);
            }
            return;
        }
        if (sources.empty()) {
            return;
        }
        const Plane<T>& below = tree_.planes[level - 1];
        std::vector<std::int32_t>& list = scratch_.lists[level - 1];
        for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
            list.clear();
            start_receiver(level - 1, child);
            for (const std::int32_t source : sources) {
                add_sources(list, below, level - 1, std::max(child, plane.first_child[source]),
                            plane.first_child[source + 1]);
            }
            descend(level - 1, child);
        }
    }

    void start_receiver(int level, std::int32_t node) {
        const Plane<T>& plane = tree_.planes[level];
        for (int axis = 0; axis < D; ++axis) {
            receiver_.box.lower[axis] = plane.lower(axis)[node];
            receiver_.box.upper[axis] = plane.upper(axis)[node];
            receiver_.box.period[axis] = period_[axis];
        }
        receiver_.node = node;
        receiver_.first_point = plane.first_point[node];
        receiver_.whole = is_whole(level, node);
    }

    /// Keeps those of the nodes [first, last) that must be looked at closer; joins those that are friends throughout.
    HWY_INLINE void add_sources(std::vector<std::int32_t>& list, const Plane<T>& plane, int level, std::int32_t first,
                                std::int32_t last) {
        const Tag tag;
        const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        const auto limit = hn::Set(tag, limit_);
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<Tag> lower{tag, plane.lower(0) + i, plane.stride};
            const Columns<Tag> upper{tag, plane.upper(0) + i, plane.stride};
            const auto bounds = box_distances<Periodic, D>(tag, receiver_.box, lower, upper,
                                                           Bounds<hn::Vec<Tag>>{hn::Zero(tag), hn::Zero(tag)});
            const auto in_range = hn::FirstN(tag, static_cast<std::size_t>(std::min(lanes, last - i)));
            const unsigned friends = mask_bits(tag, hn::And(hn::Le(bounds.greatest, limit), in_range));
            for (unsigned bits = mask_bits(tag, hn::And(hn::Le(bounds.least, limit), in_range)); bits != 0;
                 bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                consider(list, plane, level, i + lane, ((friends >> lane) & 1U) != 0);
            }
        }
    }

    HWY_INLINE void consider(std::vector<std::int32_t>& list, const Plane<T>& plane, int level, std::int32_t node,
                             bool friends) {
        if (friends) {
            make_whole(level, receiver_.node);
            make_whole(level, node);
            groups_.unite(receiver_.first_point, plane.first_point[node]);
            receiver_.whole = true;
            return;
        }
        if (receiver_.whole && is_marked(level, node) &&
            groups_.find(receiver_.first_point) == groups_.find(plane.first_point[node])) {
            return;
        }
        list.push_back(node);
    }

    [[nodiscard]] bool is_marked(int level, std::int32_t node) const {
        return std::atomic_ref(whole_[level][node]).load(std::memory_order_relaxed) != 0;
    }

    /// Whether a node is one group, by what was found before or by its diagonal.
    bool is_whole(int level, std::int32_t node) {
        if (is_marked(level, node)) {
            return true;
        }
        const Plane<T>& plane = tree_.planes[level];
        const hn::CappedTag<T, 1> one;
        const auto place_lower = Columns<decltype(one)>{one, plane.lower(0) + node, plane.stride};
        const auto place_upper = Columns<decltype(one)>{one, plane.upper(0) + node, plane.stride};
        const auto bounds = box_distances<Periodic, D>(one, receiver_.box, place_lower, place_upper,
                                                       Bounds<hn::Vec<decltype(one)>>{hn::Zero(one), hn::Zero(one)});
        if (!(hn::GetLane(bounds.greatest) <= limit_)) {
            return false;
        }
        make_whole(level, node);
        return true;
    }

    /// Joins all points of a node, and marks it and all nodes in it.
    void make_whole(int level, std::int32_t node) {
        if (is_marked(level, node)) {
            return;
        }
        const Plane<T>& plane = tree_.planes[level];
        const std::int32_t first = plane.first_point[node];
        for (std::int32_t i = first + 1; i < plane.first_point[node + 1]; ++i) {
            groups_.unite(first, i);
        }
        std::int32_t begin = node;
        std::int32_t end = node + 1;
        while (true) {
            for (std::int32_t i = begin; i < end; ++i) {
                std::atomic_ref(whole_[level][i]).store(std::uint8_t{1}, std::memory_order_relaxed);
            }
            if (level == 0) {
                return;
            }
            begin = tree_.planes[level].first_child[begin];
            end = tree_.planes[level].first_child[end];
            --level;
        }
    }

    void link_leaves(std::int32_t leaf, std::int32_t other) {
        const Plane<T>& leaves = tree_.planes[0];
        const std::int64_t begin = leaves.first_point[leaf];
        const std::int64_t end = leaves.first_point[leaf + 1];
        if (leaf == other) {
            if (!is_marked(0, leaf)) {
                link_within(begin, end);
            }
            return;
        }
        const std::int64_t other_begin = leaves.first_point[other];
        const std::int64_t other_end = leaves.first_point[other + 1];
        const bool other_whole = is_marked(0, other);
        const bool one_is_enough = other_whole && is_marked(0, leaf);
        if (one_is_enough &&
            groups_.find(static_cast<std::int32_t>(begin)) == groups_.find(static_cast<std::int32_t>(other_begin))) {
            return;
        }
        Receiver<T, D> box;
        for (int axis = 0; axis < D; ++axis) {
            box.lower[axis] = leaves.lower(axis)[other];
            box.upper[axis] = leaves.upper(axis)[other];
            box.period[axis] = period_[axis];
        }
        const Tag tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        for (std::int64_t i = begin; i < end; i += lanes) {
            const Columns<Tag> place{tag, points_.axis(0) + i, points_.stride};
            const auto bounds =
                box_distances<Periodic, D>(tag, box, place, place, Bounds<hn::Vec<Tag>>{hn::Zero(tag), hn::Zero(tag)});
            const auto in_range = hn::FirstN(tag, static_cast<std::size_t>(std::min(lanes, end - i)));
            const auto near = hn::And(hn::Le(bounds.least, hn::Set(tag, limit_)), in_range);
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                const bool linked = link_point(static_cast<std::int32_t>(i + std::countr_zero(bits)), other_begin,
                                               other_end, other_whole);
                if (linked && one_is_enough) {
                    return;
                }
            }
        }
    }

    const PlaneTree<T>& tree_;
    const std::vector<std::uint8_t*>& whole_;
    LinkScratch& scratch_;
    ReceivingNode receiver_{};
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
