// The leaves of a k-d tree that lie near a box, as ranges of points.
//
// Bounds between boxes are those of geometry/distances-inl.hpp, operation by operation, and need no slack. Cells are
// those that the planes cut from the box of all points.

#include "geometry/distances-inl.hpp"

#include "engines/kdtree/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#if defined(KITH_KDTREE_NEAR_LEAVES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_KDTREE_NEAR_LEAVES_INL_HPP
#undef KITH_KDTREE_NEAR_LEAVES_INL_HPP
#else
#define KITH_KDTREE_NEAR_LEAVES_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic>
class NearLeaves {
public:
    NearLeaves(const BucketTree<T>& tree, const Receiver<T, D>& box, ScratchArray<IndexRange>& ranges)
        : tree_(tree), box_(box), first_leaf_(static_cast<Node>(tree.leaves - 1)), ranges_(ranges) {}

    /// Lists what lies within a squared distance of the box, in ascending order, neighboring ranges as one. What lies
    /// wholly within `whole` of all of it is counted instead; -1: nothing is.
    void list(T reach, T whole) {
        Cell cell;
        std::copy_n(tree_.lower.begin(), D, cell.lower);
        std::copy_n(tree_.upper.begin(), D, cell.upper);
        list(0, 0, tree_.points.count, cell, reach, whole);
    }

    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] std::int64_t counted() const { return counted_; }

private:
    using Node = kdtree::Node;
    struct Cell {
        T lower[D];
        T upper[D];
    };

    [[nodiscard]] Bounds<T> distances(const Cell& cell) const {
        Bounds<T> sum{};
        for (int axis = 0; axis < D; ++axis) {
            T nearest =
                std::max(std::max(cell.lower[axis] - box_.upper[axis], box_.lower[axis] - cell.upper[axis]), T(0));
            T farthest = std::max(cell.upper[axis] - box_.lower[axis], box_.upper[axis] - cell.lower[axis]);
            if constexpr (Periodic) {
                const T least = std::max(std::min(nearest, box_.period[axis] - farthest), T(0));
                farthest = std::min(farthest, box_.period[axis] - nearest);
                nearest = least;
            }
            sum = axis == 0
                      ? Bounds<T>{nearest * nearest, farthest * farthest}
                      : Bounds<T>{std::fma(nearest, nearest, sum.least), std::fma(farthest, farthest, sum.greatest)};
        }
        return sum;
    }

    /// The points [begin, end) of a node. Recursion is as deep as the tree.
    void list(Node node, std::int64_t begin, std::int64_t end, Cell& cell, T reach, T whole) {
        const Bounds<T> bounds = distances(cell);
        if (bounds.least > reach) {
            return;
        }
        if (bounds.greatest <= whole) {
            counted_ += end - begin;
            return;
        }
        if (node >= first_leaf_) {
            add(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
            return;
        }
        const Node left = kdtree::left_child(node);
        const auto nodes = static_cast<Node>(2 * tree_.leaves - 1);
        const std::int64_t middle = begin + (std::int64_t{kdtree::subtree_size(left, nodes)} + 1) / 2 * bucket_size;
        const int axis = tree_.axes[node];
        const T plane = tree_.planes[node];
        const T upper = std::exchange(cell.upper[axis], plane);
        list(left, begin, middle, cell, reach, whole);
        cell.upper[axis] = upper;
        const T lower = std::exchange(cell.lower[axis], plane);
        list(kdtree::right_child(node), middle, end, cell, reach, whole);
        cell.lower[axis] = lower;
    }

    void add(std::int32_t begin, std::int32_t end) {
        if (size_ > 0 && ranges_[size_ - 1].last == begin) {
            ranges_[size_ - 1].last = end;
            return;
        }
        ranges_.reserve(size_ + 1, size_);
        ranges_[size_++] = {begin, end};
    }

    const BucketTree<T>& tree_;
    const Receiver<T, D>& box_;
    Node first_leaf_;
    ScratchArray<IndexRange>& ranges_;
    std::int64_t size_ = 0;
    std::int64_t counted_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
