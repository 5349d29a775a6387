// A k-d tree whose leaves hold several points: the spatial variant, which Engine::kdtree searches.
//
// The points lie leaf after leaf; every leaf but the last is full, so that it is a whole number of vectors and its
// points are found by its number alone. Nodes are those of a complete binary tree in level order (kdtree_layout.hpp):
// first the planes, one less than there are leaves, then the leaves. Left of a plane is what comes before the record
// that split it in the order (coordinate, original index), so that runs of coincident points are split by index. Every
// node has the smallest original index below it. Memory: a copy of the points and 13 bytes (float32) a leaf; while it
// is built, one record a point. Source: the spatial k-d trees of cudaKDTree (I. Wald); shape and axes as in
// kdtree_build.hpp.
#pragma once

#include <kith/device/kdtree.hpp>

#include "engines/kdtree/splitting.hpp"
#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace kith::detail {

/// Points of a full leaf: two or four vectors.
inline constexpr std::int64_t bucket_size = 32;

template <Coordinate T>
struct BucketTree {
    PointSet<T> points; ///< leaf after leaf
    std::int64_t leaves = 0;
    Buffer<T> planes;                     ///< of the nodes that are split, those before the first leaf
    Buffer<std::uint8_t> axes;            ///< that they split
    Buffer<std::int32_t> least_indices;   ///< of all nodes
    std::array<T, max_dimension> lower{}; ///< of all points
    std::array<T, max_dimension> upper{};
};

/// Which leaf a node is, counted along the points.
constexpr std::int64_t leaf_number(kdtree::Node node, std::int64_t leaves) {
    const auto nodes = static_cast<kdtree::Node>(2 * leaves - 1);
    const int level = kdtree::level_of(node);
    const std::int64_t in_level = node - kdtree::first_of_level(level);
    if (level == kdtree::levels_of(nodes) - 1) {
        return in_level;
    }
    // Above the lowest level: those there come first, two for each node that this level has split.
    const std::int64_t lowest = nodes - kdtree::first_of_level(level + 1);
    return in_level + lowest / 2;
}

/// Planes and leaves (see KdSplitting).
template <class T, int D>
class BucketNodes {
    using Node = kdtree::Node;

public:
    using Record = TreeRecord<T, D>;
    static constexpr bool takes_pivot = false;

    explicit BucketNodes(BucketTree<T>& tree, const Record* records)
        : tree_(tree), records_(records), first_leaf_(static_cast<Node>(tree.leaves - 1)),
          nodes_(static_cast<Node>(2 * tree.leaves - 1)) {}

    [[nodiscard]] std::int64_t size_of(Node node) const {
        const std::int64_t full = (std::int64_t{kdtree::subtree_size(node, nodes_)} + 1) / 2 * bucket_size;
        return is_last(node) ? full - (tree_.leaves * bucket_size - tree_.points.count) : full;
    }
    [[nodiscard]] static int column(const Record* /*records*/, std::int64_t /*size*/, int axis) { return axis; }
    [[nodiscard]] static kdtree::Bounds<T, D> bounds_of(const Record* records, std::int64_t size) {
        return bounds_of_records(records, size);
    }
    [[nodiscard]] bool is_leaf(Node node) const { return node >= first_leaf_; }

    std::int32_t put_leaf(Node node, const Record* records, const kdtree::Bounds<T, D>& /*cell*/) {
        const std::int64_t begin = records - records_;
        const std::int64_t size = size_of(node);
        std::int32_t least = std::numeric_limits<std::int32_t>::max();
        for (std::int64_t i = 0; i < size; ++i) {
            for (int axis = 0; axis < D; ++axis) {
                tree_.points.axis(axis)[begin + i] = records[i].x[axis];
            }
            tree_.points.indices[begin + i] = records[i].index;
            least = std::min(least, records[i].index);
        }
        tree_.least_indices[node] = least;
        return least;
    }
    std::int32_t put(Node node, int axis, const Record& pivot, std::int32_t least) {
        tree_.planes[node] = pivot.x[axis];
        tree_.axes[node] = static_cast<std::uint8_t>(axis);
        tree_.least_indices[node] = least;
        return least;
    }

private:
    /// Whether the last leaf, which may not be full, is below a node.
    [[nodiscard]] static bool is_last(Node node) {
        return node + 1 == kdtree::first_of_level(kdtree::level_of(node) + 1);
    }

    BucketTree<T>& tree_;
    const Record* records_;
    Node first_leaf_;
    Node nodes_;
};

/// A tree of one point or more. Runs inside a stage of the context.
template <Coordinate T, int D>
BucketTree<T> build_bucket_tree(Context& context, const UnsortedPoints<T>& given) {
    BucketTree<T> tree;
    tree.points = make_point_set(context, given.frame(), given.count());
    tree.leaves = (given.count() + bucket_size - 1) / bucket_size;
    tree.planes = Buffer<T>(context.memory_tracker(), tree.leaves - 1);
    tree.axes = Buffer<std::uint8_t>(context.memory_tracker(), tree.leaves - 1);
    tree.least_indices = Buffer<std::int32_t>(context.memory_tracker(), 2 * tree.leaves - 1);
    Buffer<TreeRecord<T, D>> records(context.memory_tracker(), given.count());
    given.template read<D>([&](const auto& coordinates, const auto& index) {
        parallel_each(given.count(), record_grain, [&](std::int64_t i) { records[i] = {coordinates(i), index(i)}; });
    });
    const kdtree::Bounds<T, D> bounds = bounds_of_records(records.data(), given.count());
    std::copy_n(bounds.lower.x, D, tree.lower.begin());
    std::copy_n(bounds.upper.x, D, tree.upper.begin());
    BucketNodes<T, D> nodes(tree, records.data());
    KdSplitting<T, D, BucketNodes<T, D>>(nodes, kdtree::Split::widest).order(0, records.data(), bounds);
    return tree;
}

} // namespace kith::detail
