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

template <class T>
class NearLeaves {
public:
    NearLeaves(const BucketTree<T>& tree, const AnyReceiver<T>& box, ScratchArray<IndexRange>& ranges)
        : tree_(tree), box_(box), first_leaf_(static_cast<Node>(tree.leaves - 1)), ranges_(ranges) {}

    /// Lists what lies within a squared distance of the box, in ascending order, neighboring ranges as one. What lies
    /// wholly within `whole` of all of it is counted instead; -1: nothing is.
    void list(T reach, T whole) {
        Cell cell;
        std::copy_n(tree_.lower.begin(), max_dimension, cell.lower);
        std::copy_n(tree_.upper.begin(), max_dimension, cell.upper);
        list(0, 0, tree_.points.count, cell, reach, whole);
    }

    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] std::int64_t counted() const { return counted_; }

private:
    using Node = kdtree::Node;
    struct Cell {
        T lower[max_dimension];
        T upper[max_dimension];
    };

    /// The points [begin, end) of a node. Recursion is as deep as the tree.
    void list(Node node, std::int64_t begin, std::int64_t end, Cell& cell, T reach, T whole) {
        const Bounds<T> bounds = box_distances(tree_.points.frame.dimension, box_, cell.lower, cell.upper, 1);
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
        const std::int64_t middle = begin + (std::int64_t{kdtree::subtree_size(left, nodes)} + 1) / 2 * tree_.leaf_size;
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
    const AnyReceiver<T>& box_;
    Node first_leaf_;
    ScratchArray<IndexRange>& ranges_;
    std::int64_t size_ = 0;
    std::int64_t counted_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
