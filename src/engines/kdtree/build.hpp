// Builds a left-balanced k-d tree with all threads: the tree of kith/device/kdtree_build.hpp, by another method.
//
// Points are copied as records (coordinates, original index). Node by node, depth first: the record at the rank that
// the shape of the tree asks for is found first (selection.hpp), then the others are parted by it, and each part is
// ordered in turn. So every node is known as soon as it is reached and goes straight to its position in level order;
// nothing is sorted, and from some level on all happens within the cache. A large range is parted by all threads:
// blocks side by side, then what is on the wrong side is exchanged. The order along an axis is total (coordinate,
// original index), so the tree does not depend on the number of threads.
// Cost: O(N log N) on average. Memory beside the tree: one record a point (16 bytes in 3-D float32, 32 in float64), and
// a buffer of blocks a thread.
// Source: I. Wald (2023), arXiv:2211.00120, for the shape and the widest axis.
#pragma once

#include <kith/device/kdtree.hpp>

#include "engines/kdtree/selection.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "support/scratch_array.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

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

template <class T, int D>
class KdTreeBuild {
    using Node = kdtree::Node;
    using Bounds = kdtree::Bounds<T, D>;
    using Record = TreeRecord<T, D>;
    using Key = TreeKey<T>;

public:
    /// `load(i)` gives the coordinates of point i, finite ones.
    template <class Load>
    KdTreeBuild(Context& context, std::int64_t count, const Load& load, kdtree::Split split, KdTree<T, D>& tree)
        : tree_(tree), split_(split), count_(static_cast<Node>(count)), records_(context.memory_tracker(), count) {
        tree.nodes = Buffer<std::array<T, D>>(context.memory_tracker(), count);
        tree.indices = Buffer<std::int32_t>(context.memory_tracker(), count);
        tree.least_indices = Buffer<std::int32_t>(context.memory_tracker(), count);
        if (split != kdtree::Split::cyclic) {
            tree.split_axes = Buffer<std::uint8_t>(context.memory_tracker(), count);
        }
        if (count == 0) {
            return;
        }
        parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                records_[i] = {load(i), static_cast<std::int32_t>(i)};
            }
        });
        tree.bounds = bounds_of(records_.data(), count);
        order(0, records_.data(), tree.bounds);
    }

private:
    static constexpr std::int64_t grain = 1 << 14;
    static constexpr std::int64_t block_size = 1 << 13;    ///< records that one thread parts, within its cache
    static constexpr std::int64_t task_size = 1 << 14;     ///< smaller subtrees are one task
    static constexpr std::int64_t parallel_size = 1 << 17; ///< smaller ranges are parted by one thread
    static constexpr std::int64_t sorted_size = 8;

    struct Scratch {
        ScratchArray<Record> records;
        std::vector<Key> keys;
    };
    struct Range {
        std::int64_t begin;
        std::int64_t end;
    };

    [[nodiscard]] static Bounds bounds_of(const Record* records, std::int64_t size) {
        const auto extend = [&](std::int64_t begin, std::int64_t end, Bounds box) {
            for (std::int64_t i = begin; i < end; ++i) {
                for (int axis = 0; axis < D; ++axis) {
                    box.lower.x[axis] = std::min(box.lower.x[axis], records[i].x[axis]);
                    box.upper.x[axis] = std::max(box.upper.x[axis], records[i].x[axis]);
                }
            }
            return box;
        };
        Bounds first;
        for (int axis = 0; axis < D; ++axis) {
            first.lower.x[axis] = first.upper.x[axis] = records[0].x[axis];
        }
        if (size < parallel_size) {
            return extend(0, size, first);
        }
        return parallel_reduce(0, size, grain, first, extend, [](Bounds left, const Bounds& right) {
            for (int axis = 0; axis < D; ++axis) {
                left.lower.x[axis] = std::min(left.lower.x[axis], right.lower.x[axis]);
                left.upper.x[axis] = std::max(left.upper.x[axis], right.upper.x[axis]);
            }
            return left;
        });
    }

    [[nodiscard]] int split_axis(Node node, const Record* records, std::int64_t size, Bounds& cell) const {
        if (split_ == kdtree::Split::cyclic) {
            return kdtree::level_of(node) % D;
        }
        if (split_ == kdtree::Split::widest_box) {
            cell = bounds_of(records, size);
        }
        const int axis = kdtree::widest_axis(cell);
        tree_.split_axes[node] = static_cast<std::uint8_t>(axis);
        return axis;
    }

    void put(Node node, const Record& record, std::int32_t least) {
        tree_.nodes[node] = record.x;
        tree_.indices[node] = record.index;
        tree_.least_indices[node] = least;
    }

    /// Orders a subtree by several threads and returns its smallest original index.
    std::int32_t order(Node node, Record* records, Bounds cell) {
        const std::int64_t size = kdtree::subtree_size(node, count_);
        if (size < task_size || loop_threads() == 1) {
            return order_in_thread(node, records, cell, scratch_.local());
        }
        const std::int64_t left = kdtree::subtree_size(kdtree::left_child(node), count_);
        const int axis = split_axis(node, records, size, cell);
        const Key pivot = select(records, size, left, axis, cell, scratch_.local());
        part(records, size, left, axis, pivot);
        const std::array<Bounds, 2> cells = halves(cell, axis, pivot.x);
        std::array<std::int32_t, 2> least{};
        parallel_for(0, 2, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t side = begin; side < end; ++side) {
                least[side] = order(kdtree::left_child(node) + static_cast<Node>(side),
                                    records + (side == 0 ? 0 : left + 1), cells[side]);
            }
        });
        const std::int32_t smallest = std::min({least[0], least[1], records[left].index});
        put(node, records[left], smallest);
        return smallest;
    }

    /// The same by this thread alone. Recursion is as deep as the tree, 31 at most.
    std::int32_t order_in_thread(Node node, Record* records, Bounds cell, Scratch& scratch) {
        const std::int64_t size = kdtree::subtree_size(node, count_);
        if (size <= 1) {
            if (size == 0) {
                return std::numeric_limits<std::int32_t>::max();
            }
            if (split_ != kdtree::Split::cyclic) {
                (void)split_axis(node, records, size, cell);
            }
            put(node, records[0], records[0].index);
            return records[0].index;
        }
        const std::int64_t left = kdtree::subtree_size(kdtree::left_child(node), count_);
        const int axis = split_axis(node, records, size, cell);
        if (size <= sorted_size) {
            sort_few(records, size, axis);
        } else {
            const Key pivot = select(records, size, left, axis, cell, scratch);
            if (size <= block_size) {
                std::swap(records[pivot.record], records[size - 1]);
                (void)part_block(records, size - 1, axis, pivot, scratch);
                std::swap(records[left], records[size - 1]);
            } else {
                part(records, size, left, axis, pivot);
            }
        }
        const Record found = records[left];
        const std::array<Bounds, 2> cells = halves(cell, axis, found.x[axis]);
        const std::int32_t least_left = order_in_thread(kdtree::left_child(node), records, cells[0], scratch);
        const std::int32_t least_right =
            order_in_thread(kdtree::right_child(node), records + left + 1, cells[1], scratch);
        const std::int32_t smallest = std::min({least_left, least_right, found.index});
        put(node, found, smallest);
        return smallest;
    }

    [[nodiscard]] static std::array<Bounds, 2> halves(const Bounds& cell, int axis, T plane) {
        std::array<Bounds, 2> cells{cell, cell};
        cells[0].upper.x[axis] = plane;
        cells[1].lower.x[axis] = plane;
        return cells;
    }

    static Key select(const Record* records, std::int64_t size, std::int64_t rank, int axis, const Bounds& cell,
                      Scratch& scratch) {
        return size < parallel_size ? select_key(records, size, rank, axis, cell, scratch.keys)
                                    : select_key_by_all(records, size, rank, axis);
    }

    static void sort_few(Record* records, std::int64_t size, int axis) {
        for (std::int64_t i = 1; i < size; ++i) {
            const Record record = records[i];
            const Key key{record.x[axis], record.index, 0};
            std::int64_t hole = i;
            for (; hole > 0 && key < Key{records[hole - 1].x[axis], records[hole - 1].index, 0}; --hole) {
                records[hole] = records[hole - 1];
            }
            records[hole] = record;
        }
    }

    /// Smaller records to the front, in order; returns how many. No branch depends on what is compared.
    static std::int64_t part_block(Record* records, std::int64_t size, int axis, Key pivot, Scratch& scratch) {
        scratch.records.reserve(block_size);
        Record* const others = scratch.records.data();
        std::int64_t smaller = 0;
        for (std::int64_t i = 0; i < size; ++i) {
            const Record record = records[i];
            records[smaller] = record;
            others[i - smaller] = record;
            smaller += Key{record.x[axis], record.index, 0} < pivot ? 1 : 0;
        }
        std::copy_n(others, size - smaller, records + smaller);
        return smaller;
    }

    /// Parts records by the pivot, which then is record `left`.
    void part(Record* records, std::int64_t size, std::int64_t left, int axis, Key pivot) {
        std::swap(records[pivot.record], records[--size]);
        const std::int64_t blocks = (size + block_size - 1) / block_size;
        std::vector<std::int64_t> smaller(static_cast<std::size_t>(blocks));
        const auto part_blocks = [&](std::int64_t first, std::int64_t last) {
            Scratch& scratch = scratch_.local();
            for (std::int64_t block = first; block < last; ++block) {
                const std::int64_t begin = block * block_size;
                smaller[block] = part_block(records + begin, std::min(block_size, size - begin), axis, pivot, scratch);
            }
        };
        // What has to change sides: the two lists have as many records.
        std::vector<Range> too_far;
        std::vector<Range> too_near;
        const auto note = [](std::vector<Range>& list, std::int64_t begin, std::int64_t end) {
            if (begin < end) {
                list.push_back({begin, end});
            }
        };
        if (size < parallel_size) {
            part_blocks(0, blocks);
        } else {
            parallel_for(0, blocks, 1, part_blocks);
        }
        for (std::int64_t block = 0; block < blocks; ++block) {
            const std::int64_t begin = block * block_size;
            const std::int64_t middle = begin + smaller[block];
            note(too_far, std::max(begin, left), middle);
            note(too_near, middle, std::min({begin + block_size, size, left}));
        }
        exchange(records, too_far, too_near);
        std::swap(records[left], records[size]);
    }

    static void exchange(Record* records, const std::vector<Range>& some, const std::vector<Range>& others) {
        const std::vector<std::int64_t> some_starts = starts_of(some);
        const std::vector<std::int64_t> other_starts = starts_of(others);
        const auto exchange_part = [&](std::int64_t begin, std::int64_t end) {
            auto a = static_cast<std::size_t>(std::upper_bound(some_starts.begin(), some_starts.end(), begin) -
                                              some_starts.begin() - 1);
            auto b = static_cast<std::size_t>(std::upper_bound(other_starts.begin(), other_starts.end(), begin) -
                                              other_starts.begin() - 1);
            while (begin < end) {
                const std::int64_t next = std::min({end, some_starts[a + 1], other_starts[b + 1]});
                Record* const first = records + some[a].begin + (begin - some_starts[a]);
                std::swap_ranges(first, first + (next - begin), records + others[b].begin + (begin - other_starts[b]));
                begin = next;
                a += begin == some_starts[a + 1] ? 1 : 0;
                b += begin == other_starts[b + 1] ? 1 : 0;
            }
        };
        if (some_starts.back() < grain) {
            exchange_part(0, some_starts.back());
        } else {
            parallel_for(0, some_starts.back(), grain, exchange_part);
        }
    }
    [[nodiscard]] static std::vector<std::int64_t> starts_of(const std::vector<Range>& ranges) {
        std::vector<std::int64_t> starts{0};
        for (const Range& range : ranges) {
            starts.push_back(starts.back() + (range.end - range.begin));
        }
        return starts;
    }

    KdTree<T, D>& tree_;
    kdtree::Split split_;
    Node count_;
    Buffer<Record> records_;
    PerThread<Scratch> scratch_;
};

/// A tree of `count` points, 2^31 - 1 at most. Runs inside a stage of the context.
template <class T, int D, class Load>
KdTree<T, D> build_kd_tree(Context& context, std::int64_t count, const Load& load,
                           kdtree::Split split = kdtree::Split::widest) {
    KdTree<T, D> tree;
    KdTreeBuild<T, D>(context, count, load, split, tree);
    return tree;
}

} // namespace kith::detail
