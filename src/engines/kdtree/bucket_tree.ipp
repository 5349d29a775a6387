// Builds the tree of bucket_tree.hpp. Compiled for each scalar type on its own by CMake's kith_add_scalar_instances().
#include "engines/kdtree/bucket_tree.hpp"

#include "engines/kdtree/splitting.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kith::detail {

namespace {

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
        const std::int64_t full = (std::int64_t{kdtree::subtree_size(node, nodes_)} + 1) / 2 * tree_.leaf_size;
        return is_last(node) ? full - (tree_.leaves * tree_.leaf_size - tree_.points.count) : full;
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

} // namespace

template <Coordinate T>
BucketTree<T> build_bucket_tree(Context& context, const UnsortedPoints<T>& given, int axes, std::int64_t leaf_size) {
    BucketTree<T> tree;
    tree.leaf_size = leaf_size;
    tree.points = make_point_set(context, given.frame(), given.count());
    tree.leaves = (given.count() + leaf_size - 1) / leaf_size;
    tree.planes = Buffer<T>(context.memory_tracker(), tree.leaves - 1);
    tree.axes = Buffer<std::uint8_t>(context.memory_tracker(), tree.leaves - 1);
    tree.least_indices = Buffer<std::int32_t>(context.memory_tracker(), 2 * tree.leaves - 1);
    const UnsortedReader<T> load(given);
    with_dimension(axes, [&]<int D>(std::integral_constant<int, D>) {
        Buffer<TreeRecord<T, D>> records(context.memory_tracker(), given.count());
        parallel_each(given.count(), record_grain, [&](std::int64_t i) {
            records[i] = {load.template position<D>(i), load.index(i)};
        });
        const kdtree::Bounds<T, D> bounds = bounds_of_records(records.data(), given.count());
        std::copy_n(bounds.lower.x, D, tree.lower.begin());
        std::copy_n(bounds.upper.x, D, tree.upper.begin());
        BucketNodes<T, D> nodes(tree, records.data());
        KdSplitting<T, D, BucketNodes<T, D>>(nodes, kdtree::Split::widest).order(0, records.data(), bounds);
    });
    return tree;
}

template BucketTree<KITH_SCALAR> build_bucket_tree(Context&, const UnsortedPoints<KITH_SCALAR>&, int, std::int64_t);

} // namespace kith::detail
