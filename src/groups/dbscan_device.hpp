// DBSCAN on a GPU, from a finished tree to labels: what runs after what.
//
// As on the CPU (dbscan.hpp), by the kernels of other searches: core points are counted as neighbors within a radius
// are, up to as many as are needed (neighbors/radius_kernel.hpp); the tree of the core points alone is linked as
// friends of friends are (link_kernel.hpp); their components are numbered by their smallest indices; and border points
// look for the lowest of the clusters within reach among the core points, whose indices their clusters have replaced.
// No lists of neighbors are stored. Scratch, in bytes: 5 a point while core points are found; the coordinates and 16 a
// core point, and their nodes. The stream is waited for when core points, cuts of their tree and clusters are counted.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/result_memory.hpp"
#include "groups/device_entry.hpp"
#include "groups/group_numbering.hpp"
#include "groups/link_device.hpp"
#include "groups/resolve_eps.hpp"
#include "neighbors/radius_device.hpp"
#include "tree/build_device.hpp"

#include <cstdint>
#include <numeric>

namespace kith::detail::inline KITH_GPU {

/// Flags the points of a tree, by position, that have so many within a length, themselves included.
template <Coordinate T, int D>
void flag_core_points(DeviceWork& work, const DevicePlaneTree<T>& tree, T squared_length, std::int64_t min_samples,
                      std::uint8_t* is_core) {
    if (min_samples == 1 || min_samples > tree.points.count) {
        work.fill(is_core, min_samples == 1 ? 1 : 0, tree.points.count);
        return;
    }
    RadiusKernelJob<T> job = radius_job(tree, all_leaves(tree), tree, squared_length);
    job.first_position = 0;
    job.enough = min_samples;
    job.has_enough = is_core;
    launch_radius_search<T, D, RadiusTask::count>(work, "finding core points", tree.points.frame.periodic, job);
}

/// Labels the points of a tree with their components, numbered by their smallest index, and all other rows of the input
/// with -1. Returns the sizes.
template <Coordinate T, int D>
DeviceBuffer<std::int32_t> label_components(DeviceContext& context, const DevicePlaneTree<T>& tree, T squared_length,
                                            std::int64_t rows, std::int32_t* labels) {
    const PointSetView<T> points = tree.points.view();
    const Frame<T>& frame = tree.points.frame;
    const DeviceBuffer<std::int32_t> parents = context.buffer<std::int32_t>(points.count);
    const DeviceUnionFind groups(parents.data());
    {
        const DeviceBuffer<LinkFrame<T>> length =
            stored(context, "length", LinkFrame<T>{frame.working_period, squared_length, false});
        link_tree<T, D>(context, tree.view(), frame.periodic, length.data(), groups);
    }
    const DeviceBuffer<std::int32_t> size_of_root = context.buffer<std::int32_t>(points.count);
    const DeviceBuffer<std::int32_t> by_root = context.buffer<std::int32_t>(points.count); // smallest index, then label
    const ComponentSizes components{points.count, groups, points.indices, size_of_root.data(), by_root.data()};
    count_members(context, components);
    context.fill(labels, 0, rows * 4);
    for_each_index(context, "finding clusters", points.count, MarkSmallestIndices{components, labels});
    inclusive_sum(context, labels, rows, labels);
    DeviceBuffer<std::int32_t> sizes = context.buffer<std::int32_t>(context.to_host(labels + rows - 1));
    for_each_index(context, "numbering clusters", points.count,
                   NumberBySmallestIndex{components, labels, sizes.data(), by_root.data()});
    context.fill(labels, 255, rows * 4); // all bytes of -1
    for_each_index(context, "writing labels", points.count,
                   WriteLabels{groups, points.indices, by_root.data(), labels});
    return sizes;
}

/// Labels the points whose label is -1 with the lowest cluster of a core point within the length, if there is one, and
/// adds them to the sizes. Clusters of core points are in the place of their indices.
template <Coordinate T, int D>
void find_lowest_clusters(DeviceWork& work, const DevicePlaneTree<T>& tree, const DevicePlaneTree<T>& core_tree,
                          T squared_length, std::int32_t* labels, std::int32_t* sizes) {
    for (std::size_t plane = 0; plane < core_tree.planes.size(); ++plane) { // the lowest cluster of each node
        if (plane == 0) {
            summarize_leaves<T, D>(work, core_tree.planes[0], core_tree.points.view());
        } else {
            summarize_children<T, D>(work, core_tree.planes[plane], core_tree.planes[plane - 1]);
        }
    }
    RadiusKernelJob<T> job = radius_job(tree, all_leaves(tree), core_tree, squared_length);
    job.lowest = labels;
    job.times_lowest = sizes;
    launch_radius_search<T, D, RadiusTask::lowest>(work, "labeling border points", tree.points.frame.periodic, job);
}

/// Labels the border points, and adds them to the sizes. The labels of the core points take the place of their indices.
template <Coordinate T, int D>
void label_border_points(DeviceWork& work, const DevicePlaneTree<T>& tree, const DevicePlaneTree<T>& core_tree,
                         T squared_length, std::int32_t* labels, std::int32_t* sizes) {
    std::int32_t* const clusters = core_tree.points.indices.data();
    for_each_index(work, "clusters of core points", core_tree.points.count,
                   Take<std::int32_t>{labels, clusters, clusters});
    find_lowest_clusters<T, D>(work, tree, core_tree, squared_length, labels, sizes);
}

template <Coordinate T, int D>
void cluster_on_device(DeviceContext& context, const DevicePlaneTree<T>& tree, const TreeShape& shape,
                       const DeviceDbscanCall& call, DbscanSummary& result) {
    const std::int64_t count = tree.points.count;
    const T squared = tree.points.frame.squared_radius(result.eps);
    const ResultMemory label_memory(context, call.labels.data(), static_cast<std::int64_t>(call.labels.size_bytes()));
    const ResultMemory flag_memory(context, call.is_core.data(), static_cast<std::int64_t>(call.is_core.size_bytes()));
    auto* const labels = static_cast<std::int32_t*>(label_memory.on_device());
    DeviceBuffer<std::int32_t> core_points = context.buffer<std::int32_t>(count); // their positions
    context.stage("core", [&] {
        const DeviceBuffer<std::uint8_t> is_core = context.buffer<std::uint8_t>(count);
        const DeviceBuffer<std::int32_t> selected = context.buffer<std::int32_t>(1);
        flag_core_points<T, D>(context, tree, squared, call.min_samples, is_core.data());
        if (!call.is_core.empty()) {
            for_each_index(context, "writing flags", count,
                           Put<std::uint8_t>{is_core.data(), tree.points.indices.data(),
                                             static_cast<std::uint8_t*>(flag_memory.on_device())});
        }
        select_flagged(context, is_core.data(), count, core_points.data(), selected.data());
        result.core_points = context.to_host(selected.data());
    });
    const bool all_are_core = result.core_points == count;
    DevicePlaneTree<T> core_tree;
    DeviceBuffer<std::int32_t> sizes;
    context.stage("link", [&] {
        if (result.core_points == 0) {
            context.fill(labels, 255, count * 4);
            return;
        }
        if (!all_are_core) {
            core_tree = build_subtree<T, D>(context, tree, core_points.data(), result.core_points, shape);
        }
        core_points = {};
        sizes = label_components<T, D>(context, all_are_core ? tree : core_tree, squared, count, labels);
    });
    if (!call.star && !all_are_core && result.core_points > 0) {
        context.stage("border",
                      [&] { label_border_points<T, D>(context, tree, core_tree, squared, labels, sizes.data()); });
    }
    context.stage("download", [&] {
        label_memory.copy(context);
        flag_memory.copy(context);
        const auto of_clusters = context.to_host(sizes.data(), sizes.size());
        result.sizes.assign(of_clusters.begin(), of_clusters.end());
    });
    result.clusters = sizes.size();
    result.noise_points = count - std::accumulate(result.sizes.begin(), result.sizes.end(), std::int64_t{0});
}

} // namespace kith::detail::inline KITH_GPU
