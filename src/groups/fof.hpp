// Friends-of-friends in the plane tree, from a finished tree to labels.
#pragma once

#include "groups/labels.hpp"
#include "groups/link.hpp"
#include "groups/linking_length.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"
#include "walk/tasks.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kith::detail {

template <Coordinate T>
LinkJob<T> link_job(const PointSet<T>& points, const TreeView<T>* tree, T squared_length,
                    Buffer<std::int32_t>& parents) {
    const Frame<T>& frame = points.frame;
    return {tree,           points.view(),  frame.working_period,      frame.dimension,
            frame.periodic, squared_length, UnionFind(parents.data()), {}};
}

/// Joins all points within a length of each other; `parents` has one element for each point. Returns the groups.
template <Coordinate T>
UnionFind link_tree(Context& context, const PlaneTree<T>& tree, T squared_length, Buffer<std::int32_t>& parents) {
    std::vector<Buffer<std::uint8_t>> whole;
    const TreeView<T> view = tree.view();
    LinkJob<T> job = link_job(tree.points, &view, squared_length, parents);
    for (const Plane<T>& plane : tree.planes) {
        whole.emplace_back(context.memory_tracker(), plane.nodes);
        std::memset(whole.back().data(), 0, plane.nodes);
        job.whole.push_back(whole.back().data());
    }
    if (tree.points.count > 0) {
        const int plane = plane_of_tasks(view, context.threads());
        const PlaneView<T>& tasks = view.planes[plane];
        context.expect(2 * tree.points.count);
        for_each_task(context, tasks, [&](std::int64_t node) { link_within_node(job, plane, node); });
        for_each_task(context, tasks, [&](std::int64_t node) { link_with_later_nodes(job, plane, node); });
    }
    return job.groups;
}

template <Coordinate T>
void label_tree(Context& context, const PlaneTree<T>& tree, std::span<std::int32_t> labels, FofSummary& result) {
    Buffer<std::int32_t> parents(context.memory_tracker(), tree.points.count);
    const UnionFind groups = link_tree(context, tree, tree.points.frame.squared_radius(result.linking_length), parents);
    number_groups(context, groups, tree.points.indices.span(), labels, result);
}

} // namespace kith::detail
