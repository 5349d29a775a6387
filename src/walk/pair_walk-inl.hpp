// The pair walk: a plane tree with itself, or with another one, depth first, every two nodes of a plane once.
//
// Problem: do something to all pairs of points that are within reach of each other. Method (jz-tree paper, section
// IV-A, rearranged for a CPU): first the pairs within each node, children before their parent, then the pairs between
// nodes. A pair of nodes is met at their lowest common ancestor and goes down a plane as the pairs of their children.
// What is done is up to a policy:
//
//   Bounds bounds<Periodic>(tag, box, lower, upper)   of all pairs between a node and each of a vector of nodes
//   Mask are_near(tag, bounds)                drop: the other nodes
//   Mask are_whole(tag, bounds)               of the near ones: nothing needs to be known about their single points
//   Kept keep(tag, bounds)                    kept[lane] is passed on as `bounds` of one pair of nodes
//   void take_node(plane, node, bounds)       all pairs within a node that is whole with itself
//   void finish_leaf<Periodic>(leaf, bounds)  the pairs within a leaf
//   void leave_node(plane, node)              the pairs within a node are done, those of its children before
//   void take_pair(plane, node, other, bounds)
//   bool can_end_early(plane, node, other)    asked once for a pair that goes down; if so,
//   bool has_ended(plane, node, other)        is asked before each child: nothing is left to be done for the pair
//   void finish_leaf_pair<Periodic>(leaf, other, bounds)
//
// Tasks are the nodes of one plane: within() for all of them, side by side; then with_later(), which comes to the later
// nodes from the top, through the later siblings of the node and of its ancestors, and only to those within reach.
// Between two trees, with_all() comes to the nodes of the other tree from its top, which is not below the tasks.
// Bounds use the same operations as distances, so nothing needs slack. Where no two points of two nodes are nearer
// through the edge of the box, they are walked as in open space, whose distances are theirs, bit for bit.

#include "geometry/distances-inl.hpp"

#include "walk/receiver_walk-inl.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(KITH_PAIR_WALK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_PAIR_WALK_INL_HPP
#undef KITH_PAIR_WALK_INL_HPP
#else
#define KITH_PAIR_WALK_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic, class Policy>
class PairWalk {
public:
    /// Of pairs within a tree.
    PairWalk(const TreeView<T>& tree, Policy& policy) : PairWalk(tree, tree, policy) {}
    /// Of pairs between two trees in one space.
    PairWalk(const TreeView<T>& tree, const TreeView<T>& others, Policy& policy)
        : tree_(tree), others_(others), policy_(policy), open_(tree, others, policy) {}

    /// All pairs within a node of a plane.
    void within(int level, std::int32_t node) {
        if constexpr (has_open) {
            if (never_wraps(level, node, node)) {
                open_.within(level, node);
                return;
            }
        }
        const PlaneView<T>& plane = tree_.planes[level];
        const One one;
        const Columns<One> lower{one, plane.lower(0) + node, plane.stride};
        const Columns<One> upper{one, plane.upper(0) + node, plane.stride};
        const auto bounds =
            policy_.template bounds<Periodic>(one, box_of_node<T, D>(plane, tree_.period, node), lower, upper);
        if (hn::AllTrue(one, policy_.are_whole(one, bounds))) {
            policy_.take_node(level, node, policy_.keep(one, bounds)[0]);
            return;
        }
        if (level == 0) {
            policy_.template finish_leaf<Periodic>(node, policy_.keep(one, bounds)[0]);
            return;
        }
        const std::int32_t first = plane.first_child[node];
        const std::int32_t last = plane.first_child[node + 1];
        for (std::int32_t child = first; child < last; ++child) {
            within(level - 1, child);
        }
        for (std::int32_t child = first; child + 1 < last; ++child) {
            with_range(level - 1, child, child + 1, last);
        }
        policy_.leave_node(level, node);
    }

    /// All pairs between a node of a plane and the later ones.
    void with_later(int level, std::int32_t node) {
        std::int32_t ancestor = node;
        for (int above = level; above < tree_.top; ++above) {
            const PlaneView<T>& parents = tree_.planes[above + 1];
            const std::int32_t* end = parents.first_child + parents.nodes + 1;
            const std::int32_t* next_siblings = std::upper_bound(parents.first_child, end, ancestor);
            with_descendants(level, node, above, ancestor + 1, *next_siblings);
            ancestor = static_cast<std::int32_t>(next_siblings - parents.first_child) - 1;
        }
        with_descendants(level, node, tree_.top, ancestor + 1, tree_.planes[tree_.top].nodes);
    }

    /// All pairs between a node of a plane and the other tree, which has that plane.
    void with_all(int level, std::int32_t node) {
        with_descendants(level, node, others_.top, 0, others_.planes[others_.top].nodes);
    }

private:
    template <class, int, bool, class>
    friend class PairWalk;
    static constexpr bool has_open = Periodic && HWY_TARGET != HWY_SCALAR; // which is not there to be fast
    using Tag = hn::ScalableTag<T>;
    using One = hn::CappedTag<T, 1>;

    /// All pairs between a node and the nodes of its plane below the nodes [first, last) of another one, or of it.
    void with_descendants(int level, std::int32_t node, int others, std::int32_t first, std::int32_t last) {
        if (others == level) {
            with_range(level, node, first, last);
            return;
        }
        const Tag tag;
        const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        const PlaneView<T>& plane = others_.planes[others];
        const Receiver<T, D> box = box_of_node<T, D>(tree_.planes[level], tree_.period, node);
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<Tag> lower{tag, plane.lower(0) + i, plane.stride};
            const Columns<Tag> upper{tag, plane.upper(0) + i, plane.stride};
            const auto near = hn::And(policy_.are_near(tag, policy_.template bounds<Periodic>(tag, box, lower, upper)),
                                      hn::FirstN(tag, last - i));
            for (unsigned bits = mask_bits(tag, near); bits != 0;) { // one run of near nodes after another
                const int start = std::countr_zero(bits);
                const int stop = start + std::countr_one(bits >> start);
                with_descendants(level, node, others - 1, plane.first_child[i + start], plane.first_child[i + stop]);
                bits &= ~0U << stop;
            }
        }
    }

    /// All pairs between a node and the nodes [first, last) of its plane, or of that plane of the other tree.
    HWY_NOINLINE void with_range(int level, std::int32_t node, std::int32_t first, std::int32_t last) {
        const Tag tag;
        const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        const PlaneView<T>& plane = others_.planes[level];
        const Receiver<T, D> box = box_of_node<T, D>(tree_.planes[level], tree_.period, node);
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<Tag> lower{tag, plane.lower(0) + i, plane.stride};
            const Columns<Tag> upper{tag, plane.upper(0) + i, plane.stride};
            const auto bounds = policy_.template bounds<Periodic>(tag, box, lower, upper);
            const auto near = hn::And(policy_.are_near(tag, bounds), hn::FirstN(tag, last - i));
            unsigned bits = mask_bits(tag, near);
            if (bits == 0) {
                continue;
            }
            const unsigned whole = mask_bits(tag, policy_.are_whole(tag, bounds));
            const auto kept = policy_.keep(tag, bounds);
            for (; bits != 0; bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                if (((whole >> lane) & 1U) != 0) {
                    policy_.take_pair(level, node, i + lane, kept[lane]);
                } else {
                    pair(level, node, i + lane, kept[lane]);
                }
            }
        }
    }

    /// Two nodes of a plane, some of whose points may be within reach.
    void pair(int level, std::int32_t node, std::int32_t other, const typename Policy::PairBounds& bounds) {
        if constexpr (has_open) {
            if (never_wraps(level, node, other)) {
                open_.pair(level, node, other, bounds);
                return;
            }
        }
        if (level == 0) {
            policy_.template finish_leaf_pair<Periodic>(node, other, bounds);
            return;
        }
        const PlaneView<T>& plane = tree_.planes[level];
        const std::int32_t* const first_other = others_.planes[level].first_child + other;
        const bool can_end_early = policy_.can_end_early(level, node, other);
        for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
            if (can_end_early && policy_.has_ended(level, node, other)) {
                return;
            }
            with_range(level - 1, child, first_other[0], first_other[1]);
        }
    }

    /// Whether no two points of two nodes are nearer through the edge of the box, on any axis.
    [[nodiscard]] HWY_INLINE bool never_wraps(int level, std::int32_t node, std::int32_t other) const {
        const PlaneView<T>& plane = tree_.planes[level];
        const PlaneView<T>& of_other = others_.planes[level];
        for (int axis = 0; axis < D; ++axis) {
            const T farthest = std::max(of_other.upper(axis)[other] - plane.lower(axis)[node],
                                        plane.upper(axis)[node] - of_other.lower(axis)[other]);
            if (tree_.period[axis] - farthest < farthest) {
                return false;
            }
        }
        return true;
    }

    struct Nothing {
        Nothing(const TreeView<T>&, const TreeView<T>&, Policy&) {}
    };

    const TreeView<T>& tree_;
    const TreeView<T>& others_;
    Policy& policy_;
    std::conditional_t<has_open, PairWalk<T, D, false, Policy>, Nothing> open_; ///< for nodes that never wrap
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
