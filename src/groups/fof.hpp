// Friends-of-friends in the plane tree, from a finished tree to labels.
#pragma once

#include "groups/labels.hpp"
#include "groups/link.hpp"
#include "groups/linking_length.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"
#include "walk/receiver_walk.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kith::detail {

template <Coordinate T>
LinkJob<T> link_job(const PointSet<T>& points, const TreeView<T>* tree, const FofSummary& result,
                    Buffer<std::int32_t>& parents) {
    const Frame<T>& frame = points.frame;
    return {tree,
            points.view(),
            frame.working_period,
            frame.dimension,
            frame.periodic,
            squared_length(frame, result),
            UnionFind(parents.data()),
            {}};
}

template <Coordinate T>
void link_tree(Context& context, const PlaneTree<T>& tree, std::span<std::int32_t> labels, FofSummary& result) {
    const std::int64_t count = tree.points.count;
    Buffer<std::int32_t> parents(context.memory_tracker(), count);
    std::vector<Buffer<std::uint8_t>> whole;
    const TreeView<T> view = tree.view();
    LinkJob<T> job = link_job(tree.points, &view, result, parents);
    for (const Plane<T>& plane : tree.planes) {
        whole.emplace_back(context.memory_tracker(), plane.nodes);
        std::memset(whole.back().data(), 0, static_cast<std::size_t>(plane.nodes));
        job.whole.push_back(whole.back().data());
    }
    if (count > 0) {
        const int plane = plane_of_tasks(view, context.threads());
        const PlaneView<T>& tasks = view.planes[plane];
        const auto each_task = [&](void (*link)(const LinkJob<T>&, int, std::int64_t)) {
            parallel_for(0, tasks.nodes, 1, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t node = first; node < last; ++node) {
                    link(job, plane, node);
                    context.done(tasks.points_in(node));
                }
            });
        };
        context.expect(2 * count);
        each_task(link_within_node);
        each_task(link_with_later_nodes);
    }
    number_groups(context, job.groups, tree.points.indices.span(), labels, result);
}

} // namespace kith::detail
