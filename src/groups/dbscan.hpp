// DBSCAN in the plane tree, from a finished tree to labels.
//
// Core points are found by a receiver walk (core_policy-inl.hpp). The tree of the core points alone (tree/subtree.hpp)
// is then linked as friends of friends are, its components are numbered, and it is the source of a second receiver
// walk, in which border points find the lowest of the clusters within reach (border_policy-inl.hpp). Where all points
// are core points, the tree itself is linked. No lists of neighbors are stored.
#pragma once

#include <kith/dbscan.hpp>

#include "groups/clusters.hpp"
#include "groups/density.hpp"
#include "groups/fof.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"
#include "tree/plane_tree.hpp"
#include "tree/subtree.hpp"
#include "walk/tasks.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

namespace kith::detail {

/// What is asked of a search for clusters, and where its answers go.
template <Coordinate T>
struct ClusterRequest {
    T squared_length; ///< eps squared, in working units
    std::int64_t min_samples;
    bool star;
    std::span<std::int32_t> labels;
    std::span<std::uint8_t> is_core; ///< by input row; empty: not wanted
};

/// Flags by position. With min_samples 1 all points are core points. find(is_core) marks them otherwise.
template <Coordinate T, class Find>
Buffer<std::uint8_t> core_flags(Context& context, const PointSet<T>& points, const ClusterRequest<T>& request,
                                DbscanSummary& result, const Find& find) {
    constexpr std::int64_t grain = 1 << 14;
    Buffer<std::uint8_t> is_core(context.memory_tracker(), points.count);
    const std::uint8_t from_the_start = request.min_samples == 1 ? 1 : 0;
    parallel_for(0, points.count, grain, [&](std::int64_t begin, std::int64_t end) {
        std::fill(is_core.data() + begin, is_core.data() + end, from_the_start);
    });
    if (from_the_start == 0 && request.min_samples <= points.count) {
        find(is_core.data());
    }
    result.core_points = parallel_sum(points.count, grain, [&](std::int64_t i) { return is_core[i]; });
    if (!request.is_core.empty()) {
        parallel_each(points.count, grain, [&](std::int64_t i) { request.is_core[points.indices[i]] = is_core[i]; });
    }
    return is_core;
}

inline void count_noise(std::int64_t points, DbscanSummary& result) {
    result.noise_points =
        points - parallel_sum(std::ssize(result.sizes), 1 << 14, [&](std::int64_t i) { return result.sizes[i]; });
}

template <Coordinate T>
void find_core_points(Context& context, const TreeView<T>& tree, const Frame<T>& frame,
                      const ClusterRequest<T>& request, std::uint8_t* is_core) {
    const CoreJob<T> job{
        {{&tree, &tree, frame.dimension, frame.periodic}, request.squared_length}, request.min_samples, is_core};
    walk_tasks<DensityScratch<T>>(context, job, find_core_points);
}

/// `clusters` holds each core point's cluster.
template <Coordinate T>
void label_border_points(Context& context, const TreeView<T>& tree, const Buffer<std::uint8_t>& is_core,
                         const TreeView<T>& core_tree, const Buffer<std::int32_t>& clusters, const Frame<T>& frame,
                         const ClusterRequest<T>& request, DbscanSummary& result) {
    const auto all_are_core = node_attributes<std::uint8_t>(
        context, tree, [&](std::int32_t i) { return is_core[i]; },
        [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a & b); });
    const auto lowest = node_attributes<std::int32_t>(
        context, core_tree, [&](std::int32_t i) { return clusters[i]; },
        [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
    BorderJob<T> job{{{&tree, &core_tree, frame.dimension, frame.periodic}, request.squared_length},
                     is_core.data(),
                     {},
                     clusters.data(),
                     {},
                     request.labels.data(),
                     result.sizes.data()};
    for (int level = 0; level <= tree.top; ++level) {
        job.all_are_core[level] = all_are_core[level].data();
    }
    for (int level = 0; level <= core_tree.top; ++level) {
        job.lowest[level] = lowest[level].data();
    }
    walk_tasks<DensityScratch<T>>(context, job, label_border_points);
}

template <Coordinate T>
void cluster_tree(Context& context, const PlaneTree<T>& tree, const ClusterRequest<T>& request, DbscanSummary& result) {
    const TreeView<T> view = tree.view();
    const Frame<T>& frame = tree.points.frame;
    Buffer<std::uint8_t> is_core;
    context.stage("core", [&] {
        is_core = core_flags(context, tree.points, request, result,
                             [&](std::uint8_t* flags) { find_core_points(context, view, frame, request, flags); });
    });
    const bool all_are_core = result.core_points == tree.points.count;
    PlaneTree<T> part;
    Buffer<std::int32_t> parents;
    const PlaneTree<T>& core_tree = all_are_core ? tree : part;
    context.stage("link", [&] {
        if (!all_are_core) {
            part = subtree(context, tree, is_core);
        }
        parents = Buffer<std::int32_t>(context.memory_tracker(), core_tree.points.count);
        const UnionFind components = link_tree(context, core_tree, request.squared_length, parents);
        number_clusters(context, components, core_tree.points.indices.span(), request.labels, result);
    });
    if (!request.star && !all_are_core && result.core_points > 0) {
        context.stage("border", [&] {
            label_border_points(context, view, is_core, core_tree.view(), parents, frame, request, result);
        });
    }
    context.run([&] { count_noise(tree.points.count, result); });
}

} // namespace kith::detail
