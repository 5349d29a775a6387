// Friends-of-friends links by a dual walk of the plane tree with itself, depth first.
//
// Problem: join every two points within the linking length. Method (jz-tree paper, section IV-A, rearranged for a
// CPU): first the pairs within each node, children before their parent, then the pairs between nodes, each once. A
// pair farther apart than the linking length is dropped; a pair whose every two points are within it is joined whole;
// a pair of nodes that are each one group is done at its first link, or before if the two are one already; the rest
// goes down a plane. A node is known to be one group if its diagonal is within the linking length, or once its
// children are and have been joined. Within a leaf the groups are found one after the other, as masks of bits. Pairs
// of leaves compare points, a vector at a time, only those near the other leaf's box. Bounds use the same operations
// as distances, so nothing needs slack.

#include "geometry/distances-inl.hpp"

#include "groups/link.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>

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
            const auto in_range = hn::FirstN(tag, static_cast<std::size_t>(end - i));
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
    explicit TreeLinker(const LinkJob<T>& job)
        : PointLinker<T, D, Periodic>(job), tree_(*job.tree), whole_(job.whole), open_(job) {}

    /// All pairs within a node of the top plane.
    void link_inside_top(std::int64_t node) { link_inside(tree_.top(), static_cast<std::int32_t>(node)); }

    /// All pairs between a node of the top plane and the later ones.
    void link_top_with_later(std::int64_t node) {
        const auto first = static_cast<std::int32_t>(node);
        link_with_range(tree_.top(), first, first + 1, static_cast<std::int32_t>(tree_.planes[tree_.top()].nodes));
    }

private:
    template <class, int, bool>
    friend class TreeLinker;
    using typename PointLinker<T, D, Periodic>::Tag;
    using PointLinker<T, D, Periodic>::points_;
    using PointLinker<T, D, Periodic>::groups_;
    using PointLinker<T, D, Periodic>::limit_;
    using PointLinker<T, D, Periodic>::period_;
    using PointLinker<T, D, Periodic>::link_point;
    using PointLinker<T, D, Periodic>::link_within;

    /// All pairs within a node none of whose points has a parent yet.
    void link_inside(int level, std::int32_t node) {
        if constexpr (Periodic) {
            if (never_wraps(level, node, node)) {
                open_.link_inside(level, node);
                return;
            }
        }
        const Plane<T>& plane = tree_.planes[level];
        if (fits_linking_length(level, node)) {
            groups_.adopt(plane.first_point[node], plane.first_point[node + 1]);
            mark_with_descendants(level, node);
            return;
        }
        if (level == 0) {
            if (link_leaf(plane.first_point[node], plane.first_point[node + 1])) {
                mark(level, node);
            }
            return;
        }
        const std::int32_t first = plane.first_child[node];
        const std::int32_t last = plane.first_child[node + 1];
        for (std::int32_t child = first; child < last; ++child) {
            link_inside(level - 1, child);
        }
        for (std::int32_t child = first; child + 1 < last; ++child) {
            link_with_range(level - 1, child, child + 1, last);
        }
        if (are_one_group(level - 1, first, last)) {
            mark(level, node);
        }
    }

    /// All pairs within a leaf that no other thread sees yet. Returns whether they are one group.
    [[nodiscard]] bool link_leaf(std::int32_t begin, std::int32_t end) const {
        if (end - begin > 64) { // more than a word of bits
            groups_.separate(begin, end);
            link_within(begin, end);
            return are_one_group(begin, end);
        }
        // Groups one after the other: friends of its members are looked for among the points without a group only.
        std::uint64_t free = ~std::uint64_t{0} >> (64 - (end - begin));
        bool one_group = true;
        while (free != 0) {
            std::uint64_t waiting = free & -free;
            std::uint64_t members = waiting;
            free ^= waiting;
            while ((waiting != 0) & (free != 0)) {
                const int point = std::countr_zero(waiting);
                const std::uint64_t friends = friends_in_leaf(begin, point, free);
                free ^= friends;
                members |= friends;
                waiting = (waiting & (waiting - 1)) | friends;
            }
            one_group = one_group && std::popcount(members) == end - begin;
            groups_.adopt(begin, members);
        }
        return one_group;
    }

    /// Which of the points `among`, bits counted from `begin`, lie within the linking length of one of the leaf.
    [[nodiscard]] HWY_INLINE std::uint64_t friends_in_leaf(std::int64_t begin, int point, std::uint64_t among) const {
        const Tag tag;
        const int lanes = static_cast<int>(hn::Lanes(tag));
        T place[D];
        for (int axis = 0; axis < D; ++axis) {
            place[axis] = points_.axis(axis)[begin + point];
        }
        std::uint64_t friends = 0;
        const int last = 63 - std::countl_zero(among);
        for (int i = std::countr_zero(among); i <= last; i += lanes) {
            const Columns<Tag> others{tag, points_.axis(0) + begin + i, points_.stride};
            const auto distance = point_distances<Periodic, D>(tag, place, period_, others, hn::Zero(tag));
            friends |= std::uint64_t{mask_bits(tag, hn::Le(distance, hn::Set(tag, limit_)))} << i;
        }
        return friends & among;
    }

    /// Whether the points [begin, end) are one group so far.
    [[nodiscard]] bool are_one_group(std::int32_t begin, std::int32_t end) const {
        const std::int32_t root = groups_.find(begin);
        for (std::int32_t i = begin + 1; i < end; ++i) {
            if (groups_.find(i) != root) {
                return false;
            }
        }
        return true;
    }

    /// All pairs between a node and the nodes [first, last) of its plane.
    HWY_INLINE void link_with_range(int level, std::int32_t node, std::int32_t first, std::int32_t last) {
        const Tag tag;
        const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        const auto limit = hn::Set(tag, limit_);
        const Plane<T>& plane = tree_.planes[level];
        const Receiver<T, D> box = receiver(plane, node);
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<Tag> lower{tag, plane.lower(0) + i, plane.stride};
            const Columns<Tag> upper{tag, plane.upper(0) + i, plane.stride};
            const auto bounds =
                box_distances<Periodic, D>(tag, box, lower, upper, Bounds<hn::Vec<Tag>>{hn::Zero(tag), hn::Zero(tag)});
            const auto in_range = hn::FirstN(tag, static_cast<std::size_t>(last - i));
            const unsigned friends = mask_bits(tag, hn::And(hn::Le(bounds.greatest, limit), in_range));
            for (unsigned bits = mask_bits(tag, hn::And(hn::Le(bounds.least, limit), in_range)); bits != 0;
                 bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                if (((friends >> lane) & 1U) != 0) {
                    make_whole(level, node);
                    make_whole(level, i + lane);
                    groups_.unite(plane.first_point[node], plane.first_point[i + lane]);
                } else {
                    link_pair(level, node, i + lane);
                }
            }
        }
    }

    /// Two nodes of a plane, some of whose points may be friends.
    void link_pair(int level, std::int32_t node, std::int32_t other) {
        if constexpr (Periodic) {
            if (never_wraps(level, node, other)) {
                open_.link_pair(level, node, other);
                return;
            }
        }
        if (level == 0) {
            link_leaves(node, other);
            return;
        }
        const Plane<T>& plane = tree_.planes[level];
        const bool one_is_enough = is_whole(level, node) && is_whole(level, other);
        for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
            if (one_is_enough && groups_.find(plane.first_point[node]) == groups_.find(plane.first_point[other])) {
                return;
            }
            link_with_range(level - 1, child, plane.first_child[other], plane.first_child[other + 1]);
        }
    }

    /// Whether no two points of two nodes are nearer through the edge of the box, on any axis. Then the distances of open
    /// space are theirs, bit for bit.
    [[nodiscard]] bool never_wraps(int level, std::int32_t node, std::int32_t other) const {
        const Plane<T>& plane = tree_.planes[level];
        for (int axis = 0; axis < D; ++axis) {
            const T farthest = std::max(plane.upper(axis)[other] - plane.lower(axis)[node],
                                        plane.upper(axis)[node] - plane.lower(axis)[other]);
            if (period_[axis] - farthest < farthest) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] HWY_INLINE Receiver<T, D> receiver(const Plane<T>& plane, std::int32_t node) const {
        Receiver<T, D> box;
        for (int axis = 0; axis < D; ++axis) {
            box.lower[axis] = plane.lower(axis)[node];
            box.upper[axis] = plane.upper(axis)[node];
            box.period[axis] = period_[axis];
        }
        return box;
    }

    [[nodiscard]] bool fits_linking_length(int level, std::int32_t node) const {
        const Plane<T>& plane = tree_.planes[level];
        const hn::CappedTag<T, 1> one;
        const Columns<decltype(one)> lower{one, plane.lower(0) + node, plane.stride};
        const Columns<decltype(one)> upper{one, plane.upper(0) + node, plane.stride};
        const auto bounds = box_distances<Periodic, D>(one, receiver(plane, node), lower, upper,
                                                       Bounds<hn::Vec<decltype(one)>>{hn::Zero(one), hn::Zero(one)});
        return hn::GetLane(bounds.greatest) <= limit_;
    }

    /// Whether the nodes [first, last) of a plane are each known to be one group, and all the same.
    [[nodiscard]] bool are_one_group(int level, std::int32_t first, std::int32_t last) const {
        const Plane<T>& plane = tree_.planes[level];
        for (std::int32_t node = first; node < last; ++node) {
            if (!is_whole(level, node)) {
                return false;
            }
        }
        const std::int32_t root = groups_.find(plane.first_point[first]);
        for (std::int32_t node = first + 1; node < last; ++node) {
            if (groups_.find(plane.first_point[node]) != root) { // joined meanwhile by others: found out later
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool is_whole(int level, std::int32_t node) const {
        return std::atomic_ref(whole_[level][node]).load(std::memory_order_relaxed) != 0;
    }

    void mark(int level, std::int32_t node) const {
        std::atomic_ref(whole_[level][node]).store(std::uint8_t{1}, std::memory_order_relaxed);
    }

    /// Joins all points of a node, and marks it and all nodes in it.
    void make_whole(int level, std::int32_t node) const {
        if (is_whole(level, node)) {
            return;
        }
        const Plane<T>& plane = tree_.planes[level];
        const std::int32_t first = plane.first_point[node];
        for (std::int32_t i = first + 1; i < plane.first_point[node + 1]; ++i) {
            groups_.unite(first, i);
        }
        mark_with_descendants(level, node);
    }

    void mark_with_descendants(int level, std::int32_t node) const {
        std::int32_t begin = node;
        std::int32_t end = node + 1;
        while (true) {
            for (std::int32_t i = begin; i < end; ++i) {
                mark(level, i);
            }
            if (level == 0) {
                return;
            }
            begin = tree_.planes[level].first_child[begin];
            end = tree_.planes[level].first_child[end];
            --level;
        }
    }

    void link_leaves(std::int32_t leaf, std::int32_t other) const {
        const Plane<T>& leaves = tree_.planes[0];
        if (is_whole(0, leaf) && !is_whole(0, other)) {
            std::swap(leaf, other); // points of the looser leaf against the other as one
        }
        const std::int64_t begin = leaves.first_point[leaf];
        const std::int64_t end = leaves.first_point[leaf + 1];
        const std::int64_t other_begin = leaves.first_point[other];
        const std::int64_t other_end = leaves.first_point[other + 1];
        const bool other_whole = is_whole(0, other);
        const bool one_is_enough = other_whole && is_whole(0, leaf);
        if (one_is_enough &&
            groups_.find(static_cast<std::int32_t>(begin)) == groups_.find(static_cast<std::int32_t>(other_begin))) {
            return;
        }
        const Receiver<T, D> box = receiver(leaves, other);
        const Tag tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        for (std::int64_t i = begin; i < end; i += lanes) {
            const Columns<Tag> place{tag, points_.axis(0) + i, points_.stride};
            const auto near =
                hn::And(hn::Le(least_distances<Periodic, D>(tag, box, place, place), hn::Set(tag, limit_)),
                        hn::FirstN(tag, static_cast<std::size_t>(end - i)));
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                const auto point = static_cast<std::int32_t>(i + std::countr_zero(bits));
                if (other_whole && groups_.find(point) == groups_.find(static_cast<std::int32_t>(other_begin))) {
                    continue;
                }
                const bool linked = link_point(point, other_begin, other_end, other_whole);
                if (linked && one_is_enough) {
                    return;
                }
            }
        }
    }

    const PlaneTree<T>& tree_;
    const std::vector<std::uint8_t*>& whole_;
    struct Nothing {
        explicit Nothing(const LinkJob<T>&) {}
    };
    std::conditional_t<Periodic, TreeLinker<T, D, false>, Nothing> open_; ///< for nodes that never wrap
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
