// Builds a left-balanced k-d tree on a GPU: the tree of kith/device/kdtree_build.hpp, by tags and a sort a level.
//
// Every point has a tag: the node that it is, or the node of the current level that it is under. Sorted by (tag,
// position along the tag's axis, index), the point of each node is at its pivot, and those before and behind it get the
// tags of its children. Keys are made in the order of indices and sorted by a stable radix sort, so that ties need no
// key: of one word in float32, in float64 by position and then by tag. Subtrees that fit are finished in shared memory.
// Cost: a sort of all points for each of log2(N / subtree_points) levels. Memory beside the tree and a copy of the
// points: 28 bytes a point, and what a sort takes. Source: I. Wald (2023), arXiv:2211.00120, sections 3, 4 and 6.
#pragma once

#include <kith/error.hpp>

#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "engines/kdtree/level_kernel.hpp"
#include "engines/kdtree/subtree_kernel.hpp"
#include "points/device_point_set.hpp"
#include "points/normalize_device.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T, int D>
struct DeviceKdTree {
    using View = kdtree::TreeView<kdtree::StructNodes<std::array<T, D>>>;

    DeviceBuffer<std::array<T, D>> nodes; ///< in level order
    DeviceBuffer<std::int32_t> indices;
    DeviceBuffer<std::int32_t> least_indices;
    DeviceBuffer<std::uint8_t> split_axes; ///< none with Split::cyclic
    kdtree::Bounds<T, D> bounds{};

    /// In open space.
    [[nodiscard]] View view() const {
        View view{{nodes.data()}, static_cast<kdtree::Node>(nodes.size()), bounds};
        view.indices = indices.data();
        view.least_indices = least_indices.data();
        view.split_axes = split_axes.size() > 0 ? split_axes.data() : nullptr;
        return view;
    }
    /// In the space of the points' frame.
    [[nodiscard]] View view(const Frame<T>& frame) const {
        View view = this->view();
        for (int axis = 0; axis < D; ++axis) {
            const T period = frame.working_period[axis];
            view.periods.x[axis] = std::isinf(period) ? T(0) : period;
        }
        return view;
    }
};

/// Of points in working coordinates.
template <Coordinate T, int D>
kdtree::Bounds<T, D> working_bounds(DeviceContext& context, const DevicePointSet<T>& points) {
    const PointBounds<T> found =
        bounds_on_device<T, D>(context, PointsView(points.coordinates.data(), dtype_of<T>, points.count, D, 1,
                                                   points.stride, context.device()));
    kdtree::Bounds<T, D> bounds{};
    std::copy_n(found.lower.begin(), D, bounds.lower.x);
    std::copy_n(found.upper.begin(), D, bounds.upper.x);
    return bounds;
}

/// One build.
template <Coordinate T, int D>
class KdTreeLevels {
    using Node = kdtree::Node;

public:
    KdTreeLevels(DeviceWork& work, const GrowingTree<T, D>& tree)
        : work_(work), keys_(work.buffer<std::uint64_t>(2 * std::int64_t{tree.count})),
          points_(work.buffer<std::int32_t>(2 * std::int64_t{tree.count})),
          tags_(work.buffer<Node>(tree.count)), job_{tree, 0, tags_.data(), nullptr, nullptr},
          sorted_keys_{keys_.data(), keys_.data() + tree.count}, sorted_points_{points_.data(),
                                                                                points_.data() + tree.count} {
        work.fill(tags_.data(), 0, tags_.size() * static_cast<std::int64_t>(sizeof(Node)));
    }

    /// Adds a level.
    void add() {
        if (job_.tree.split_axes != nullptr) {
            launch_threads(work_, "split axes", choose_axes_kernel<T, D>, nodes_of_level(), current());
        }
        launch_threads(work_, "keys of points", position_keys_kernel<T, D>, count(), current());
        constexpr int position_bits = 8 * sizeof(T);
        const int tag_bits = job_.level + 1;
        if constexpr (sizeof(T) == 4) {
            sort(position_bits + tag_bits);
        } else {
            sort(position_bits);
            launch_threads(work_, "tags of points", tag_keys_kernel<T, D>, count(), current());
            sort(tag_bits);
        }
        launch_threads(work_, "splitting points", part_level_kernel<T, D>, count(), current());
        ++job_.level;
    }

    /// Adds all that is below.
    void finish() {
        launch(work_, "subtrees", finish_subtrees_kernel<T, D>, nodes_of_level(), subtree_threads,
               {job_.tree, job_.level, job_.level == 0 ? nullptr : sorted_points_.elements});
        while (job_.level-- > 0) {
            launch_threads(work_, "smallest indices", least_indices_kernel<T, D>, nodes_of_level(), current());
        }
    }

    /// The largest subtree that is missing: the first one.
    [[nodiscard]] std::int64_t largest() const {
        return kdtree::subtree_size(kdtree::first_of_level(job_.level), job_.tree.count);
    }

private:
    [[nodiscard]] std::int64_t count() const { return job_.tree.count; }
    [[nodiscard]] std::int64_t nodes_of_level() const {
        return std::min(count(), std::int64_t{kdtree::first_of_level(job_.level + 1)}) -
               kdtree::first_of_level(job_.level);
    }
    /// A sort may have let arrays change places.
    [[nodiscard]] LevelJob<T, D> current() const {
        LevelJob<T, D> job = job_;
        job.keys = sorted_keys_.elements;
        job.points = sorted_points_.elements;
        return job;
    }
    void sort(int bits) { sort_by_key(work_, sorted_keys_, sorted_points_, count(), bits); }

    DeviceWork& work_;
    DeviceBuffer<std::uint64_t> keys_;
    DeviceBuffer<std::int32_t> points_;
    DeviceBuffer<Node> tags_;
    LevelJob<T, D> job_;
    SortedArray<std::uint64_t> sorted_keys_;
    SortedArray<std::int32_t> sorted_points_;
};

/// A tree of points in the order given, split by level or by the widest cell. Subtrees of at most `largest_finished`
/// points, 1 to subtree_points, are finished by a block.
template <Coordinate T, int D>
DeviceKdTree<T, D> build_kd_tree_on_device(DeviceContext& context, const DevicePointSet<T>& points,
                                           kdtree::Split split = kdtree::Split::widest,
                                           std::int64_t largest_finished = subtree_points) {
    if (split == kdtree::Split::widest_box) {
        throw Error(ErrorKind::unsupported, "this builder makes no tight boxes; use kdtree::build_in_place of "
                                            "kith/device/kdtree_build.cuh");
    }
    DeviceKdTree<T, D> tree;
    if (points.count == 0) {
        return tree;
    }
    tree.nodes = context.buffer<std::array<T, D>>(points.count);
    tree.indices = context.buffer<std::int32_t>(points.count);
    tree.least_indices = context.buffer<std::int32_t>(points.count);
    if (split != kdtree::Split::cyclic) {
        tree.split_axes = context.buffer<std::uint8_t>(points.count);
    }
    tree.bounds = working_bounds<T, D>(context, points);
    std::uint8_t* const split_axes = split != kdtree::Split::cyclic ? tree.split_axes.data() : nullptr;
    KdTreeLevels<T, D> levels(context, {static_cast<kdtree::Node>(points.count), points.view(), tree.nodes.data(),
                                        tree.indices.data(), tree.least_indices.data(), split_axes, tree.bounds});
    while (levels.largest() > largest_finished) {
        levels.add();
    }
    levels.finish();
    return tree;
}

} // namespace kith::detail::inline KITH_GPU
