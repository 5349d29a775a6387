// Builds a left-balanced k-d tree with all threads: the tree of kith/device/kdtree_build.hpp, by another method.
//
// Points are copied as records and parted node by node (splitting.hpp); the record at the rank that the shape of the tree
// asks for goes straight to its position in level order.
// Cost: O(N log N) on average. Memory beside the tree: one record a point, and a buffer of blocks a thread.
// Source: I. Wald (2023), arXiv:2211.00120, for the shape and the widest axis.
#pragma once

#include <kith/device/kdtree.hpp>

#include "engines/kdtree/splitting.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace kith::detail {

/// A left-balanced tree that owns its arrays.
template <class T, int D>
struct KdTree {
    using View = kdtree::TreeView<kdtree::StructNodes<std::array<T, D>>>;

    Buffer<std::array<T, D>> nodes; ///< in level order
    Buffer<std::int32_t> indices;
    Buffer<std::int32_t> least_indices;
    Buffer<std::uint8_t> split_axes; ///< none with Split::cyclic
    kdtree::Bounds<T, D> bounds{};

    /// In open space; periods are the view's to set.
    [[nodiscard]] View view() const {
        View view = kdtree::view_of(nodes.data(), static_cast<kdtree::Node>(nodes.size()), bounds);
        view.indices = indices.data();
        view.least_indices = least_indices.data();
        view.split_axes = split_axes.data();
        return view;
    }
};

/// Every record becomes a node (see KdSplitting).
template <class T, int D>
class PointNodes {
    using Node = kdtree::Node;
    using Bounds = kdtree::Bounds<T, D>;
    using Record = TreeRecord<T, D>;

public:
    static constexpr bool takes_pivot = true;

    PointNodes(KdTree<T, D>& tree, kdtree::Split split)
        : tree_(tree), split_(split), count_(static_cast<Node>(tree.nodes.size())) {}

    [[nodiscard]] std::int64_t size_of(Node node) const { return kdtree::subtree_size(node, count_); }
    [[nodiscard]] bool is_leaf(Node node) const { return kdtree::left_child(node) >= count_; }

    std::int32_t put_leaf(Node node, const Record* record, const Bounds& cell) {
        if (node >= count_) {
            return std::numeric_limits<std::int32_t>::max();
        }
        return put(node, split_ == kdtree::Split::widest ? kdtree::widest_axis(cell) : 0, *record, record->index);
    }
    std::int32_t put(Node node, int axis, const Record& record, std::int32_t least) {
        const std::int32_t smallest = std::min(least, record.index);
        tree_.nodes[node] = record.x;
        tree_.indices[node] = record.index;
        tree_.least_indices[node] = smallest;
        if (split_ != kdtree::Split::cyclic) {
            tree_.split_axes[node] = static_cast<std::uint8_t>(axis);
        }
        return smallest;
    }

private:
    KdTree<T, D>& tree_;
    kdtree::Split split_;
    Node count_;
};

/// A tree of `count` points, 2^31 - 1 at most; `load(i)` gives the coordinates of point i, finite ones. Runs inside a
/// stage of the context.
template <class T, int D, class Load>
KdTree<T, D> build_kd_tree(Context& context, std::int64_t count, const Load& load,
                           kdtree::Split split = kdtree::Split::widest) {
    KdTree<T, D> tree;
    tree.nodes = Buffer<std::array<T, D>>(context.memory_tracker(), count);
    tree.indices = Buffer<std::int32_t>(context.memory_tracker(), count);
    tree.least_indices = Buffer<std::int32_t>(context.memory_tracker(), count);
    if (split != kdtree::Split::cyclic) {
        tree.split_axes = Buffer<std::uint8_t>(context.memory_tracker(), count);
    }
    if (count == 0) {
        return tree;
    }
    Buffer<TreeRecord<T, D>> records(context.memory_tracker(), count);
    parallel_for(0, count, record_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            records[i] = {load(i), static_cast<std::int32_t>(i)};
        }
    });
    tree.bounds = RecordPartition<T, D>::bounds_of(records.data(), count);
    PointNodes<T, D> nodes(tree, split);
    KdSplitting<T, D, PointNodes<T, D>>(nodes, split).order(0, records.data(), tree.bounds);
    return tree;
}

} // namespace kith::detail
