// The recursion of every k-d tree: records (coordinates, original index) are parted node by node, depth first.
//
// What the nodes are, an output says (build.hpp: points; bucket_tree.hpp: planes above leaves of several points). Each
// range is parted by the record at the rank that the shape of the tree asks for, and each part is ordered in turn: so
// every node is known as soon as it is reached, nothing is sorted, and from some level on all happens within the cache.
// The order along an axis is total (coordinate, original index), so the tree does not depend on the number of threads.
// Cost: O(N log N) on average. Memory: one record a point (16 bytes in 3-D float32, 28 in float64), and a buffer of
// blocks a thread. Source: I. Wald (2023), arXiv:2211.00120, for the widest axis.
#pragma once

#include "engines/kdtree/partition.hpp"
#include "support/context.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kith::detail {

/// An Output has these members:
///   Record                          a TreeRecord
///   takes_pivot                     whether the record at the split is the node, or else the first of the right part
///   size_of(node)                   records of a subtree, 0 where there is no such node
///   column(records, size, axis)     which coordinate of the records, those of a node that is to be split, is that along
///                                   the axis
///   bounds_of(records, size)        their tight box
///   is_leaf(node)                   whether a subtree is not split, and
///   put_leaf(node, records, cell)   what becomes of it; returns its smallest original index
///   put(node, axis, pivot, least)   a node that is split, `least` the smallest index of its parts; returns its own
/// Records are those from `records` on, which never move from one subtree to another once that is split.
template <class T, int D, class Output>
class KdSplitting {
    using Node = kdtree::Node;
    using Bounds = kdtree::Bounds<T, D>;
    using Record = typename Output::Record;
    using Partition = RecordPartition<T, Record::dimension>;
    using Scratch = typename Partition::Scratch;

public:
    KdSplitting(Output& output, kdtree::Split split) : output_(output), split_(split) {}

    /// Orders a subtree and returns its smallest original index: by several threads, or by this one alone.
    std::int32_t order(Node node, Record* records, Bounds cell) {
        constexpr std::int64_t task_size = 1 << 14; // smaller subtrees are one task
        if (output_.is_leaf(node) || output_.size_of(node) < task_size || loop_threads() == 1) {
            return order_in_thread(node, records, cell);
        }
        const Halves halves = split(node, records, cell, partition_.local_scratch());
        std::array<std::int32_t, 2> least{};
        parallel_each(2, 1, [&](std::int64_t side) {
            least[side] =
                order(kdtree::left_child(node) + static_cast<Node>(side), halves.records[side], halves.cells[side]);
        });
        return output_.put(node, halves.axis, halves.pivot, std::min(least[0], least[1]));
    }

    std::int32_t order_in_thread(Node node, Record* records, const Bounds& cell) {
        return order_in_thread(node, records, cell, partition_.local_scratch());
    }

private:
    struct Halves {
        int axis;
        Record pivot;
        std::array<Record*, 2> records;
        std::array<Bounds, 2> cells;
    };

    /// Recursion is as deep as the tree, 31 at most.
    std::int32_t order_in_thread(Node node, Record* records, const Bounds& cell, Scratch& scratch) {
        if (output_.is_leaf(node)) {
            return output_.put_leaf(node, records, cell);
        }
        const Halves halves = split(node, records, cell, scratch);
        const std::int32_t left =
            order_in_thread(kdtree::left_child(node), halves.records[0], halves.cells[0], scratch);
        const std::int32_t right =
            order_in_thread(kdtree::right_child(node), halves.records[1], halves.cells[1], scratch);
        return output_.put(node, halves.axis, halves.pivot, std::min(left, right));
    }

    Halves split(Node node, Record* records, Bounds cell, Scratch& scratch) {
        const std::int64_t size = output_.size_of(node);
        const std::int64_t left = output_.size_of(kdtree::left_child(node));
        if (split_ == kdtree::Split::widest_box) {
            cell = output_.bounds_of(records, size);
        }
        const int axis = split_ == kdtree::Split::cyclic ? kdtree::level_of(node) % D : kdtree::widest_axis(cell);
        const int column = output_.column(records, size, axis);
        partition_.split(records, size, left, column, cell.lower.x[axis], cell.upper.x[axis], scratch);
        Halves halves{axis, records[left], {records, records + left + (Output::takes_pivot ? 1 : 0)}, {cell, cell}};
        halves.cells[0].upper.x[axis] = halves.pivot.x[column];
        halves.cells[1].lower.x[axis] = halves.pivot.x[column];
        return halves;
    }

    Output& output_;
    kdtree::Split split_;
    Partition partition_;
};

} // namespace kith::detail
