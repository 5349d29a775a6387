// Searches of a left-balanced k-d tree, on the host and on a device.
//
//   kdtree::Nearest<float, 8> nearest;
//   kdtree::search(tree, query, nearest);
//
// Three traversals, which find the same (docs/semantics.md, "Distance" and "Order of neighbors, ties"). All visit the
// nearer child first, the left one if both are as near, and drop a subtree if (bound of d2, smallest original index) of
// it is not before (farthest d2, its index) of the candidates. A bound is computed by the operations of the distance
// itself, in its order, and rounding is monotone: no slack is needed and nothing is missed. In a periodic box the bound
// of an axis is that to the nearest image of the cell, min(nearest, L - farthest), so every point is met once.
//   stack_free      no stack: the state is a node and the node before: I. Wald, "A Stack-Free Traversal Algorithm for
//                   Left-Balanced k-d Trees", JCGT 14 (1), 2025. Subtrees are dropped by their splitting plane.
//   stack           a stack of subtrees, by their splitting planes: 31 entries, 248 bytes in float, 496 in double.
//   closest_corner  a stack of subtrees with the offsets from the query to their cell on all axes: the tightest bound,
//                   best for many axes, clustered points and queries far from all points. 31 entries of 8 + 4 D bytes
//                   in float (620 bytes in 3-D), of 16 + 8 D in double; in a periodic box three times the D.
// The default is stack_free in code for a device, where a stack is local memory of each thread, else closest_corner.
// The lowest levels are scanned whole: their nodes are contiguous level by level. Cost: O(log N + k) for ordinary
// points. A run of m coincident points costs O(log N + k), too, if the tree has its smallest indices
// (TreeView::least_indices); but for a query beside the run a single plane is nearer than the run is, so stack_free and
// stack may take O(m).
#pragma once

#include <kith/device/kdtree_candidates.hpp>
#include <kith/device/kdtree_view.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace kith::kdtree {

enum class Traversal {
    stack_free,
    stack,
    closest_corner,
    automatic, ///< stack_free on a device, closest_corner on the host
};

namespace detail {

using portable::fused;
using portable::greatest_of;
using portable::least_of;

/// x[axis]. On a device without an address, so that the array may stay in registers.
template <int D, class T>
KITH_KDTREE_HD T along(const T (&x)[D], int axis) {
#if defined(__CUDA_ARCH__)
    T found = x[0];
    KITH_KDTREE_UNROLL
    for (int i = 1; i < D; ++i) {
        found = i == axis ? x[i] : found;
    }
    return found;
#else
    return x[axis];
#endif
}

/// Sum of squares in the order of the axes.
template <int D, class T>
KITH_KDTREE_HD T sum_of_squares(const T (&offset)[D]) {
    T sum = offset[0] * offset[0];
    KITH_KDTREE_UNROLL
    for (int axis = 1; axis < D; ++axis) {
        sum = fused(offset[axis], offset[axis], sum);
    }
    return sum;
}

/// A tree, a query and what it has found.
template <class Tree, bool Periodic, class Candidates>
class Search {
public:
    using T = typename Tree::T;
    static constexpr int D = Tree::dimension;

    KITH_KDTREE_HD Search(const Tree& tree, const Position<T, D>& query, Candidates& candidates)
        : tree_(tree), query_(query), candidates_(candidates) {
        constexpr int scanned_levels = 5; // at least 2: then every node that a search goes to exists
        const int levels = levels_of(tree.count);
        first_scanned_ = first_of_level(levels > scanned_levels ? levels - scanned_levels : 0);
        KITH_KDTREE_UNROLL
        for (int axis = 0; axis < D; ++axis) {
            periods_.x[axis] = Periodic && tree.periods.x[axis] != 0 ? tree.periods.x[axis] : infinite<T>;
        }
    }

    KITH_KDTREE_HD void stack_free() {
        constexpr Node above_root = 0xFFFFFFFF;
        Node node = 0;
        Node previous = above_root;
        if (!may_hold({node, sum_of_squares(root_cell().offset)})) {
            return;
        }
        while (node != above_root) {
            const Node parent = node == 0 ? above_root : parent_of(node);
            Node next = parent;
            if (node >= first_scanned_) {
                scan(node);
            } else {
                const bool from_above = previous == parent;
                if (from_above) {
                    meet(node);
                }
                const Children children = children_of(node);
                if (from_above && may_hold(children.near)) {
                    next = children.near.node;
                } else if (previous != children.far.node && may_hold(children.far)) {
                    next = children.far.node;
                }
            }
            previous = node;
            node = next;
        }
    }

    KITH_KDTREE_HD void stack() {
        Subtree waiting[max_levels];
        int waiting_count = 0;
        Subtree subtree{0, sum_of_squares(root_cell().offset)};
        for (;;) {
            while (may_hold(subtree)) {
                if (subtree.node >= first_scanned_) {
                    scan(subtree.node);
                    break;
                }
                meet(subtree.node);
                const Children children = children_of(subtree.node);
                const Subtree far{children.far.node, greatest_of(subtree.bound, children.far.bound)};
                if (may_hold(far)) {
                    waiting[waiting_count++] = far;
                }
                subtree = {children.near.node, greatest_of(subtree.bound, children.near.bound)};
            }
            if (waiting_count == 0) {
                return;
            }
            subtree = waiting[--waiting_count];
        }
    }

    KITH_KDTREE_HD void closest_corner() {
        struct Region {
            Subtree subtree;
            Cell cell;
        };
        Region waiting[max_levels];
        int waiting_count = 0;
        Region region{{0, 0}, root_cell()};
        region.subtree.bound = sum_of_squares(region.cell.offset);
        for (;;) {
            while (may_hold(region.subtree)) {
                const Node node = region.subtree.node;
                if (node >= first_scanned_) {
                    scan(node);
                    break;
                }
                meet(node);
                const int axis = tree_.split_axis(node);
                const T plane = tree_.coordinate(node, axis);
                const Sides sides = region.cell.sides(*this, axis, plane);
                const bool left_is_nearer = sides.left_is_nearer();
                Region& far = waiting[waiting_count];
                far.cell = region.cell;
                far.cell.clip(axis, plane, !left_is_nearer, sides.farther());
                far.subtree = {left_is_nearer ? right_child(node) : left_child(node), sum_of_squares(far.cell.offset)};
                waiting_count += may_hold(far.subtree) ? 1 : 0;
                region.subtree.node = left_is_nearer ? left_child(node) : right_child(node);
                if (Periodic) { // in open space the nearer part is as near as the whole
                    region.cell.clip(axis, plane, left_is_nearer, sides.nearer());
                    region.subtree.bound = sum_of_squares(region.cell.offset);
                }
            }
            if (waiting_count == 0) {
                return;
            }
            region = waiting[--waiting_count];
        }
    }

private:
    struct Subtree {
        Node node;
        T bound; ///< no point in it has a smaller squared distance
    };
    struct Children {
        Subtree near;
        Subtree far;
    };
    /// Least distances along the split axis to the two sides of a plane.
    struct Sides {
        T left;
        T right;
        KITH_KDTREE_HD bool left_is_nearer() const { return left <= right; }
        KITH_KDTREE_HD T nearer() const { return least_of(left, right); }
        KITH_KDTREE_HD T farther() const { return greatest_of(left, right); }
    };

    /// Least distance along an axis from a coordinate to an interval, nearest image.
    KITH_KDTREE_HD static T offset_to(T q, T period, T lower, T upper) {
        const T nearest = greatest_of(greatest_of(lower - q, q - upper), T(0));
        if (!Periodic) {
            return nearest;
        }
        const T farthest = greatest_of(upper - q, q - lower);
        return greatest_of(least_of(nearest, period - farthest), T(0));
    }
    KITH_KDTREE_HD static Sides sides_of(T q, T period, T plane, T lower, T upper) {
        if (Periodic) {
            return {offset_to(q, period, lower, plane), offset_to(q, period, plane, upper)};
        }
        return {greatest_of(q - plane, T(0)), greatest_of(plane - q, T(0))};
    }

    /// By the splitting plane alone.
    KITH_KDTREE_HD Children children_of(Node node) const {
        const int axis = tree_.split_axis(node);
        const Sides sides =
            sides_of(along(query_.x, axis), Periodic ? along(periods_.x, axis) : T(0), tree_.coordinate(node, axis),
                     tree_.bounds.lower.x[axis], tree_.bounds.upper.x[axis]);
        const Subtree left{left_child(node), sides.left * sides.left};
        const Subtree right{right_child(node), sides.right * sides.right};
        return sides.left_is_nearer() ? Children{left, right} : Children{right, left};
    }

    /// The region of a subtree: how far from the query along each axis. In open space that is enough.
    struct OpenCell {
        T offset[D];
        KITH_KDTREE_HD Sides sides(const Search& search, int axis, T plane) const {
            const T q = search.query_.x[axis];
            return q <= plane ? Sides{offset[axis], plane - q} : Sides{q - plane, offset[axis]};
        }
        KITH_KDTREE_HD void clip(int axis, T, bool, T part_offset) { offset[axis] = part_offset; }
    };
    struct PeriodicCell {
        T offset[D];
        T lower[D];
        T upper[D];
        KITH_KDTREE_HD Sides sides(const Search& search, int axis, T plane) const {
            return sides_of(search.query_.x[axis], search.periods_.x[axis], plane, lower[axis], upper[axis]);
        }
        KITH_KDTREE_HD void clip(int axis, T plane, bool to_left, T part_offset) {
            (to_left ? upper : lower)[axis] = plane;
            offset[axis] = part_offset;
        }
    };
    using Cell = std::conditional_t<Periodic, PeriodicCell, OpenCell>;

    KITH_KDTREE_HD Cell root_cell() const {
        Cell cell;
        KITH_KDTREE_UNROLL
        for (int axis = 0; axis < D; ++axis) {
            const T lower = tree_.bounds.lower.x[axis];
            const T upper = tree_.bounds.upper.x[axis];
            cell.offset[axis] = offset_to(query_.x[axis], periods_.x[axis], lower, upper);
            if constexpr (Periodic) {
                cell.lower[axis] = lower;
                cell.upper[axis] = upper;
            }
        }
        return cell;
    }

    /// Whether a candidate may be in a subtree.
    KITH_KDTREE_HD bool may_hold(const Subtree& subtree) const {
        const T farthest = candidates_.farthest();
        return subtree.bound < farthest ||
               (subtree.bound == farthest && tree_.least_index(subtree.node) < candidates_.farthest_index());
    }

    KITH_KDTREE_HD void meet(Node node) {
        T offset[D];
        KITH_KDTREE_UNROLL
        for (int axis = 0; axis < D; ++axis) {
            T t = query_.x[axis] - tree_.coordinate(node, axis);
            if (Periodic) {
                t = t < 0 ? -t : t;
                t = least_of(t, periods_.x[axis] - t);
            }
            offset[axis] = t;
        }
        const T squared = sum_of_squares(offset);
        const T farthest = candidates_.farthest();
        if (squared <= farthest) {
            const std::int32_t index = tree_.index(node);
            if (squared < farthest || index < candidates_.farthest_index()) {
                candidates_.take(squared, index, node);
            }
        }
    }

    /// Meets all nodes of a subtree.
    KITH_KDTREE_HD void scan(Node node) {
        Node width = 1;
        for (Node first = node; first < tree_.count; first = left_child(first)) {
            const Node end = least_of(first + width, tree_.count);
            for (Node met = first; met < end; ++met) {
                meet(met);
            }
            width *= 2;
        }
    }

    const Tree& tree_;
    Position<T, D> query_;
    Position<T, D> periods_; ///< infinite on open axes
    Candidates& candidates_;
    Node first_scanned_;
};

template <Traversal Method, class Search>
KITH_KDTREE_HD void run(Search search) {
#if defined(__CUDA_ARCH__)
    constexpr bool is_on_device = true;
#else
    constexpr bool is_on_device = false;
#endif
    if constexpr (Method == Traversal::stack_free || (Method == Traversal::automatic && is_on_device)) {
        search.stack_free();
    } else if constexpr (Method == Traversal::stack) {
        search.stack();
    } else {
        search.closest_corner();
    }
}

} // namespace detail

/// Passes to the candidates all sources of the tree that may be among them. In a periodic box the query must be within
/// the box, as the points. Coordinates must be finite. No memory is allocated and nothing is thrown.
template <Traversal Method = Traversal::automatic, class Nodes, class Candidates>
KITH_KDTREE_HD void search(const TreeView<Nodes>& tree,
                           const Position<typename TreeView<Nodes>::T, TreeView<Nodes>::dimension>& query,
                           Candidates& candidates) {
    using Tree = TreeView<Nodes>;
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(candidates.farthest())>, typename Tree::T>,
                  "the candidates are of another scalar type than the tree's distances: float for float coordinates, "
                  "double for double and integers");
    if (tree.count == 0) {
        return;
    }
    if (tree.is_periodic()) {
        detail::run<Method>(detail::Search<Tree, true, Candidates>(tree, query, candidates));
    } else {
        detail::run<Method>(detail::Search<Tree, false, Candidates>(tree, query, candidates));
    }
}

} // namespace kith::kdtree
