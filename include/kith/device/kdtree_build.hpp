// Builds a left-balanced k-d tree in place, on the host: the caller's structs are swapped into level order.
//
// The points of a subtree are in one range. Its node is the point at the rank that the shape of the tree asks for
// (kdtree_layout.hpp), found by selection; smaller points go before it, larger ones behind, and so on in both parts.
// That ends in the in-order sequence; cycles of swaps then bring every point to its node. The order along an axis is
// (coordinate, original index), -0.0 as +0.0: every builder makes the same tree, whatever its method.
// Cost: O(N log N) time on average, O(N log^2 N) at worst; the parts of a node are work for two threads, its own
// selection and the swaps into level order for one. Memory in addition to the points: one integer per point, another
// one for original indices if they are wanted, and one byte with split axes of choice.
// Source: I. Wald (2023), arXiv:2211.00120, for the shape, and section 6 for the widest axis; the paper sorts all
// levels.
#pragma once

#include <kith/device/kdtree_arrange.hpp>
#include <kith/device/kdtree_split.hpp>
#include <kith/device/kdtree_view.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace kith::kdtree {

/// The widest axis of a box; the first of equals.
template <class T, int D>
KITH_KDTREE_HD int widest_axis(const Bounds<T, D>& box) {
    int widest = 0;
    for (int axis = 1; axis < D; ++axis) {
        if (box.upper.x[axis] - box.lower.x[axis] > box.upper.x[widest] - box.lower.x[widest]) {
            widest = axis;
        }
    }
    return widest;
}

namespace detail {

template <class Traits, class Point>
class InPlaceBuild {
public:
    using T = DistanceOf<typename Traits::Scalar>;
    static constexpr int D = Traits::dimension;

    InPlaceBuild(std::span<Point> points, std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes,
                 Split split)
        : points_(points), indices_(indices), split_axes_(split_axes), split_(split),
          count_(static_cast<Node>(points.size())) {}

    [[nodiscard]] Bounds<T, D> bounds(Node begin, Node end) const {
        Bounds<T, D> box{};
        for (int axis = 0; axis < D && begin < end; ++axis) {
            T lower = coordinate(begin, axis);
            T upper = lower;
            for (Node i = begin; i < end; ++i) {
                lower = std::min(lower, coordinate(i, axis));
                upper = std::max(upper, coordinate(i, axis));
            }
            box.lower.x[axis] = lower;
            box.upper.x[axis] = upper;
        }
        return box;
    }

    void check_finite() const {
        for (Node i = 0; i < count_; ++i) {
            for (int axis = 0; axis < D; ++axis) {
                if (!std::isfinite(coordinate(i, axis))) {
                    throw Error(ErrorKind::invalid_points, "coordinate " + std::to_string(axis) + " of point " +
                                                               std::to_string(i) + " is not finite; remove the point");
                }
            }
        }
    }

    /// Orders the points of a subtree that start at `begin`, with `threads` threads. Recursion is as deep as the tree,
    /// 31 at most.
    void order(Node node, Node begin, Bounds<T, D> cell, int threads) {
        const Node size = subtree_size(node, count_);
        if (size == 0) {
            return;
        }
        if (split_ == Split::widest_box) {
            cell = bounds(begin, begin + size);
        }
        const int axis = split_ == Split::cyclic ? level_of(node) % D : widest_axis(cell);
        if (!split_axes_.empty()) {
            split_axes_[node] = static_cast<std::uint8_t>(axis);
        }
        const Node pivot = begin + subtree_size(left_child(node), count_);
        select(begin, begin + size, pivot, axis);
        const T plane = coordinate(pivot, axis);
        Bounds<T, D> right = cell;
        cell.upper.x[axis] = plane;
        right.lower.x[axis] = plane;
        constexpr Node thread_size = 1 << 14; // smaller subtrees are not worth a thread
        std::thread other;
        if (const int of_other = threads / 2; of_other > 0 && size >= thread_size) {
            try {
                other = std::thread([=, this] { order(right_child(node), pivot + 1, right, of_other); });
                threads -= of_other;             // after the thread began, which has copies of all that it reads
            } catch (const std::system_error&) { // there are no more: this one does it all
            }
        }
        order(left_child(node), begin, cell, threads);
        if (other.joinable()) {
            other.join();
        } else {
            order(right_child(node), pivot + 1, right, threads);
        }
    }

    /// From the in-order sequence to level order. Original indices go along if `keeps_indices`.
    void put_in_levels(std::span<Node> nodes, bool keeps_indices) {
        if (!keeps_indices) {
            indices_ = {}; // they are where the nodes will be
        }
        for (Node i = 0; i < count_; ++i) {
            nodes[i] = node_in_order(i, count_);
        }
        for (Node i = 0; i < count_; ++i) {
            while (nodes[i] != i) { // every swap brings one point to its node
                const Node node = nodes[i];
                swap(i, node);
                std::swap(nodes[i], nodes[node]);
            }
        }
    }

private:
    /// Its place in the order along an axis.
    struct Key {
        T x;
        std::int32_t index;
        friend bool operator<(const Key& a, const Key& b) { return is_less(a.x, a.index, b.x, b.index); }
        static bool is_less(T x, std::int32_t index, T other_x, std::int32_t other_index) {
            return x < other_x || (x == other_x && index < other_index);
        }
    };
    [[nodiscard]] T coordinate(Node i, int axis) const { return static_cast<T>(Traits::coordinate(points_[i], axis)); }
    [[nodiscard]] Key key(Node i, int axis) const { return {coordinate(i, axis), indices_[i]}; }
    void swap(Node i, Node j) {
        using std::swap;
        swap(points_[i], points_[j]);
        if (!indices_.empty()) {
            swap(indices_[i], indices_[j]);
        }
    }

    /// Quickselect by the median of three; if it does not get smaller soon enough, a heap sort. Source: D. R. Musser,
    /// "Introspective Sorting and Selection Algorithms" (1997), Software: Practice and Experience 27, 983.
    void select(Node begin, Node end, Node wanted, int axis) {
        constexpr Node insertion_size = 8;
        int rounds = 2 * level_of(end - begin) + 4;
        while (end - begin > insertion_size) {
            if (rounds-- == 0) {
                heap_sort(begin, end, axis);
                return;
            }
            const Key pivot = median(key(begin, axis), key(begin + (end - begin) / 2, axis), key(end - 1, axis));
            Node low = begin;
            Node high = end - 1;
            for (;;) { // the pivot itself stops both
                while (key(low, axis) < pivot) {
                    ++low;
                }
                while (pivot < key(high, axis)) {
                    --high;
                }
                if (low >= high) {
                    break;
                }
                swap(low, high);
            }
            if (low == wanted) {
                return;
            }
            (wanted < low ? end : begin) = wanted < low ? low : low + 1;
        }
        for (Node i = begin; i < end; ++i) {
            for (Node hole = i; hole > begin && key(hole, axis) < key(hole - 1, axis); --hole) {
                swap(hole, hole - 1);
            }
        }
    }

    static Key median(const Key& a, const Key& b, const Key& c) {
        return std::max(std::min(a, b), std::min(std::max(a, b), c));
    }

    void heap_sort(Node begin, Node end, int axis) {
        const auto sift = [&](Node hole, Node size) {
            for (Node child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
                child += child + 1 < size && key(begin + child, axis) < key(begin + child + 1, axis) ? 1 : 0;
                if (!(key(begin + hole, axis) < key(begin + child, axis))) {
                    return;
                }
                swap(begin + hole, begin + child);
                hole = child;
            }
        };
        for (Node hole = (end - begin) / 2; hole-- > 0;) {
            sift(hole, end - begin);
        }
        for (Node size = end - begin; size > 1; --size) {
            swap(begin, begin + size - 1);
            sift(0, size - 1);
        }
    }

    std::span<Point> points_;
    std::span<std::int32_t> indices_;
    std::span<std::uint8_t> split_axes_;
    Split split_;
    Node count_;
};

} // namespace detail

/// Swaps points into level order and fills indices with their original positions. `scratch` has as many elements.
/// `indices` has as many, or is empty: then nodes stand for the points, as in a view without indices. `split_axes` has
/// as many, too; with Split::cyclic it may be empty. The tree does not depend on the number of threads; with more than
/// one, swapping points must not throw. Returns the bounds of the points. Throws Error:
/// too_large for more than 2^31 - 1 points, invalid_argument for arrays of other lengths or less than one thread,
/// invalid_points for coordinates that are not finite; nothing is changed then. Cost: above.
template <class Point, class Traits = PointTraits<Point>>
Bounds<DistanceOf<typename Traits::Scalar>, Traits::dimension>
build(std::span<Point> points, std::span<std::int32_t> indices, std::span<Node> scratch,
      std::span<std::uint8_t> split_axes = {}, Split split = Split::cyclic, int threads = 1) {
    if (points.size() > max_nodes) {
        throw Error(ErrorKind::too_large,
                    std::to_string(points.size()) + " points; a tree holds at most 2147483647: split them");
    }
    detail::require_size("scratch", scratch.size(), points.size());
    const bool keeps_indices = !indices.empty();
    if (keeps_indices) {
        detail::require_size("indices", indices.size(), points.size());
    } else { // ties are broken by them all the same
        indices = {reinterpret_cast<std::int32_t*>(scratch.data()), scratch.size()};
    }
    if (split != Split::cyclic || !split_axes.empty()) {
        detail::require_size("split_axes", split_axes.size(), points.size());
    }
    if (threads < 1) {
        throw Error(ErrorKind::invalid_argument, "threads is " + std::to_string(threads) + "; it must be at least 1");
    }
    const auto count = static_cast<Node>(points.size());
    detail::InPlaceBuild<Traits, Point> tree(points, indices, split_axes, split);
    tree.check_finite();
    for (Node i = 0; i < count; ++i) {
        indices[i] = static_cast<std::int32_t>(i);
    }
    const auto bounds = tree.bounds(0, count);
    if (count > 0) {
        tree.order(0, 0, bounds, threads);
    }
    tree.put_in_levels(scratch, keeps_indices);
    return bounds;
}

} // namespace kith::kdtree
