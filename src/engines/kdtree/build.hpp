// Builds a left-balanced k-d tree with all threads: the tree of kith/device/kdtree_build.hpp, by another method.
//
// Points are copied as records and parted node by node (splitting.hpp); the record at the rank that the shape of the
// tree asks for goes straight to its position in level order. Records that would take more than 28 bytes have one
// coordinate in the upper levels, read anew by each; the points of smaller subtrees are gathered and parted within the
// cache. Cost: O(N log N) on average. Memory beside the tree: at most 28 bytes a point, and a buffer of blocks a
// thread. Source: I. Wald (2023), arXiv:2211.00120, for the shape and the widest axis.
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

/// Memory of a tree's arrays. Those that are null are not written.
template <class T, int D>
struct KdTreeArrays {
    std::array<T, D>* nodes;
    std::int32_t* indices;
    std::int32_t* least_indices;
    std::uint8_t* split_axes;
};

/// Every record becomes a node (see KdSplitting).
template <class T, int D>
class PointNodes {
    using Node = kdtree::Node;
    using Bounds = kdtree::Bounds<T, D>;

public:
    using Record = TreeRecord<T, D>;
    static constexpr bool takes_pivot = true;

    PointNodes(const KdTreeArrays<T, D>& arrays, std::int64_t count, kdtree::Split split)
        : arrays_(arrays), split_(split), count_(static_cast<Node>(count)) {}

    [[nodiscard]] std::int64_t size_of(Node node) const { return kdtree::subtree_size(node, count_); }
    [[nodiscard]] static int column(const Record* /*records*/, std::int64_t /*size*/, int axis) { return axis; }
    [[nodiscard]] static Bounds bounds_of(const Record* records, std::int64_t size) {
        return bounds_of_records(records, size);
    }
    [[nodiscard]] bool is_leaf(Node node) const { return kdtree::left_child(node) >= count_; }

    std::int32_t put_leaf(Node node, const Record* record, const Bounds& cell) {
        if (node >= count_) {
            return std::numeric_limits<std::int32_t>::max();
        }
        const int axis = split_ == kdtree::Split::cyclic   ? kdtree::level_of(node) % D
                         : split_ == kdtree::Split::widest ? kdtree::widest_axis(cell)
                                                           : 0;
        return put(node, axis, *record, record->index);
    }
    std::int32_t put(Node node, int axis, const Record& record, std::int32_t least) {
        const std::int32_t smallest = std::min(least, record.index);
        arrays_.indices[node] = record.index;
        if (arrays_.nodes != nullptr) {
            arrays_.nodes[node] = record.coordinates();
        }
        if (arrays_.least_indices != nullptr) {
            arrays_.least_indices[node] = smallest;
        }
        if (arrays_.split_axes != nullptr) {
            arrays_.split_axes[node] = static_cast<std::uint8_t>(axis);
        }
        return smallest;
    }

private:
    KdTreeArrays<T, D> arrays_; ///< `indices` is not null
    kdtree::Split split_;
    Node count_;
};

/// The upper levels of a tree whose records have one coordinate (see KdSplitting): smaller subtrees are its leaves.
template <class T, int D, class Load>
class UpperNodes {
    using Node = kdtree::Node;
    using Bounds = kdtree::Bounds<T, D>;

public:
    using Record = TreeRecord<T, 1>;
    static constexpr bool takes_pivot = true;

    UpperNodes(PointNodes<T, D>& nodes, kdtree::Split split, const Load& load, std::int64_t gathered_size)
        : nodes_(nodes), lower_(nodes, split), load_(load), gathered_size_(gathered_size) {}

    [[nodiscard]] std::int64_t size_of(Node node) const { return nodes_.size_of(node); }
    [[nodiscard]] int column(Record* records, std::int64_t size, int axis) const {
        parallel_each(size, record_grain, [&](std::int64_t i) { records[i].x[0] = load_(records[i].index)[axis]; });
        return 0;
    }
    [[nodiscard]] Bounds bounds_of(const Record* records, std::int64_t size) const {
        return bounds_of_points<T, D>(size, [&](std::int64_t i) { return load_(records[i].index); });
    }
    [[nodiscard]] bool is_leaf(Node node) const { return size_of(node) <= gathered_size_; }

    std::int32_t put_leaf(Node node, const Record* records, const Bounds& cell) {
        const std::int64_t size = size_of(node);
        ScratchArray<TreeRecord<T, D>>& points = points_.local();
        points.reserve(size);
        for (std::int64_t i = 0; i < size; ++i) {
            points[i] = {load_(records[i].index), records[i].index};
        }
        return lower_.order_in_thread(node, points.data(), cell);
    }
    std::int32_t put(Node node, int axis, const Record& record, std::int32_t least) {
        return nodes_.put(node, axis, {load_(record.index), record.index}, least);
    }

private:
    PointNodes<T, D>& nodes_;
    KdSplitting<T, D, PointNodes<T, D>> lower_;
    const Load& load_;
    std::int64_t gathered_size_;
    PerThread<ScratchArray<TreeRecord<T, D>>> points_;
};

/// Builds a tree of `count` points, 1 to 2^31 - 1; `load(i)` gives the coordinates of point i, finite ones within the
/// bounds. Runs inside a stage of the context.
template <class T, int D, class Load>
void build_kd_tree(Context& context, std::int64_t count, const Load& load, kdtree::Split split,
                   const kdtree::Bounds<T, D>& bounds, const KdTreeArrays<T, D>& arrays) {
    constexpr std::int64_t most_bytes = 28; // of a record
    constexpr bool are_whole = sizeof(TreeRecord<T, D>) <= most_bytes;
    using Record = TreeRecord<T, are_whole ? D : 1>;
    Buffer<Record> records(context.memory_tracker(), count);
    parallel_each(count, record_grain, [&](std::int64_t i) {
        if constexpr (are_whole) {
            records[i] = {load(i), static_cast<std::int32_t>(i)};
        } else {
            records[i].index = static_cast<std::int32_t>(i);
        }
    });
    PointNodes<T, D> nodes(arrays, count, split);
    if constexpr (are_whole) {
        KdSplitting<T, D, PointNodes<T, D>>(nodes, split).order(0, records.data(), bounds);
    } else {
        // Within the cache; and, from some thousand points on, the threads' buffers take 13 bytes a point at most.
        const std::int64_t gathered_size = std::clamp<std::int64_t>(count / (8 * loop_threads()), 1 << 10, 1 << 16);
        UpperNodes<T, D, Load> upper(nodes, split, load, gathered_size);
        KdSplitting<T, D, UpperNodes<T, D, Load>>(upper, split).order(0, records.data(), bounds);
    }
}

/// The same tree with arrays of its own, of any number of points.
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
    if (count > 0) {
        tree.bounds = bounds_of_points<T, D>(count, load);
        build_kd_tree<T, D>(
            context, count, load, split, tree.bounds,
            {tree.nodes.data(), tree.indices.data(), tree.least_indices.data(), tree.split_axes.data()});
    }
    return tree;
}

} // namespace kith::detail
