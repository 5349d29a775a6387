// Friends-of-friends as a policy of the pair walk.
//
// Problem: join every two points within the linking length. A pair of nodes whose every two points are within it is
// joined whole; a pair of nodes that are each one group is done at its first link, or before if the two are one
// already. A node is known to be one group if its diagonal is within the linking length, or once its children are and
// have been joined. Within a leaf the groups are found one after the other, as masks of bits. Pairs of leaves compare
// points, a vector at a time, only those near the other leaf's box.

#include "groups/link.hpp"
#include "walk/pair_walk-inl.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#if defined(KITH_FOF_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_FOF_POLICY_INL_HPP
#undef KITH_FOF_POLICY_INL_HPP
#else
#define KITH_FOF_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D>
class FofPolicy {
    using Tag = hn::ScalableTag<T>;

public:
    explicit FofPolicy(const LinkJob<T>& job)
        : tree_(job.tree), points_(job.points), groups_(job.groups), limit_(job.squared_length), whole_(job.whole) {
        std::copy_n(job.period.begin(), D, period_);
    }

    struct PairBounds {}; ///< nothing needs to be known of nodes that are not joined whole

    /// Least and greatest squared distances.
    template <bool Periodic, class Tag, class V = hn::Vec<Tag>>
    [[nodiscard]] HWY_INLINE Bounds<V> bounds(Tag tag, const Receiver<T, D>& box, const Columns<Tag>& lower,
                                              const Columns<Tag>& upper) const {
        return box_distances<Periodic, D>(tag, box, lower, upper, Bounds<V>{hn::Zero(tag), hn::Zero(tag)});
    }
    template <class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE auto are_near(Of tag, const Bounds<V>& bounds) const {
        return hn::Le(bounds.least, hn::Set(tag, limit_));
    }
    template <class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE auto are_whole(Of tag, const Bounds<V>& bounds) const {
        return hn::Le(bounds.greatest, hn::Set(tag, limit_));
    }
    template <class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE std::array<PairBounds, hn::MaxLanes(Of())> keep(Of /*tag*/,
                                                                             const Bounds<V>& /*bounds*/) const {
        return {};
    }

    /// No other thread sees the points of the node yet.
    void take_node(int level, std::int32_t node, PairBounds /*bounds*/) const {
        const PlaneView<T>& plane = tree_->planes[level];
        groups_.adopt(plane.first_point[node], plane.first_point[node + 1]);
        mark_with_descendants(level, node);
    }

    template <bool Periodic>
    void finish_leaf(std::int32_t leaf, PairBounds /*bounds*/) const {
        const PlaneView<T>& leaves = tree_->planes[0];
        if (link_leaf<Periodic>(leaves.first_point[leaf], leaves.first_point[leaf + 1])) {
            mark(0, leaf);
        }
    }

    void leave_node(int level, std::int32_t node) const {
        const PlaneView<T>& plane = tree_->planes[level];
        if (are_one_group(level - 1, plane.first_child[node], plane.first_child[node + 1])) {
            mark(level, node);
        }
    }

    void take_pair(int level, std::int32_t node, std::int32_t other, PairBounds /*bounds*/) const {
        const PlaneView<T>& plane = tree_->planes[level];
        make_whole(level, node);
        make_whole(level, other);
        groups_.unite(plane.first_point[node], plane.first_point[other]);
    }

    /// One link joins two nodes that are a group each.
    [[nodiscard]] HWY_INLINE bool can_end_early(int level, std::int32_t node, std::int32_t other) const {
        return is_whole(level, node) && is_whole(level, other);
    }
    [[nodiscard]] bool has_ended(int level, std::int32_t node, std::int32_t other) const {
        const PlaneView<T>& plane = tree_->planes[level];
        return groups_.find(plane.first_point[node]) == groups_.find(plane.first_point[other]);
    }

    template <bool Periodic>
    void finish_leaf_pair(std::int32_t leaf, std::int32_t other, PairBounds /*bounds*/) const {
        const PlaneView<T>& leaves = tree_->planes[0];
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
        const Receiver<T, D> box = box_of_node<T, D>(leaves, tree_->period, other);
        const Tag tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        for (std::int64_t i = begin; i < end; i += lanes) {
            const Columns<Tag> position{tag, points_.axis(0) + i, points_.stride};
            const auto near =
                hn::And(hn::Le(least_distances<Periodic, D>(tag, box, position, position), hn::Set(tag, limit_)),
                        hn::FirstN(tag, end - i));
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                const auto point = static_cast<std::int32_t>(i + std::countr_zero(bits));
                if (other_whole && groups_.find(point) == groups_.find(static_cast<std::int32_t>(other_begin))) {
                    continue;
                }
                const bool linked = link_point<Periodic>(point, other_begin, other_end, other_whole);
                if (linked && one_is_enough) {
                    return;
                }
            }
        }
    }

    /// Joins one point with all of [begin, end) within the linking length. Returns whether there was one; stops at the
    /// first if one is enough.
    template <bool Periodic>
    HWY_INLINE bool link_point(std::int32_t point, std::int64_t begin, std::int64_t end, bool one_is_enough) const {
        const Tag tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        T position[D];
        load_point<D>(points_.axis(0) + point, points_.stride, position);
        bool linked = false;
        for (std::int64_t i = begin; i < end; i += lanes) {
            const Columns<Tag> others{tag, points_.axis(0) + i, points_.stride};
            const auto distance = point_distances<Periodic, D>(tag, position, period_, others, hn::Zero(tag));
            const auto in_range = hn::FirstN(tag, end - i);
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
    template <bool Periodic>
    HWY_INLINE void link_within(std::int64_t begin, std::int64_t end) const {
        for (std::int64_t i = begin; i + 1 < end; ++i) {
            link_point<Periodic>(static_cast<std::int32_t>(i), i + 1, end, false);
        }
    }

    /// All pairs within a leaf that no other thread sees yet. Returns whether they are one group.
    template <bool Periodic>
    bool link_leaf(std::int32_t begin, std::int32_t end) const {
        if (end - begin > 64) { // more than a word of bits
            groups_.separate(begin, end);
            link_within<Periodic>(begin, end);
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
                const std::uint64_t friends = friends_in_leaf<Periodic>(begin, point, free);
                free ^= friends;
                members |= friends;
                waiting = (waiting & (waiting - 1)) | friends;
            }
            one_group = one_group && std::popcount(members) == end - begin;
            groups_.adopt(begin, members);
        }
        return one_group;
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

private:
    /// Which of the points `among`, bits counted from `begin`, lie within the linking length of one of the leaf.
    template <bool Periodic>
    [[nodiscard]] HWY_INLINE std::uint64_t friends_in_leaf(std::int64_t begin, int point, std::uint64_t among) const {
        const Tag tag;
        const int lanes = static_cast<int>(hn::Lanes(tag));
        T position[D];
        load_point<D>(points_.axis(0) + begin + point, points_.stride, position);
        std::uint64_t friends = 0;
        const int last = 63 - std::countl_zero(among);
        for (int i = std::countr_zero(among); i <= last; i += lanes) {
            const Columns<Tag> others{tag, points_.axis(0) + begin + i, points_.stride};
            const auto distance = point_distances<Periodic, D>(tag, position, period_, others, hn::Zero(tag));
            friends |= std::uint64_t{mask_bits(tag, hn::Le(distance, hn::Set(tag, limit_)))} << i;
        }
        return friends & among;
    }

    /// Whether the nodes [first, last) of a plane are each known to be one group, and all the same.
    [[nodiscard]] bool are_one_group(int level, std::int32_t first, std::int32_t last) const {
        const PlaneView<T>& plane = tree_->planes[level];
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

    [[nodiscard]] HWY_INLINE bool is_whole(int level, std::int32_t node) const {
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
        const PlaneView<T>& plane = tree_->planes[level];
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
            begin = tree_->planes[level].first_child[begin];
            end = tree_->planes[level].first_child[end];
            --level;
        }
    }

    const TreeView<T>* tree_; ///< null for brute force
    const PointSetView<T>& points_;
    const UnionFind groups_;
    const T limit_;
    const std::vector<std::uint8_t*>& whole_;
    T period_[D];
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
