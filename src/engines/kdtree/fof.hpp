// Friends-of-friends by a range query a point over a k-d tree, from points to labels.
//
// Source: GPU halo-finding thesis, sections 3.3.2 and 3.4.2. Its tree is one of positions, in phase space too; so is
// this one; on a GPU (link_device.hpp) it is one of all coordinates. Beyond the thesis, every query goes to the points
// before its own alone, and boxes are tight in all axes, those of velocities included. A node whose points are one
// group already is left out if the query is of that group, and left at the first friend otherwise. Cost: O(log N) a
// query, and the leaves near its ball that are not yet of its group. Memory: the tree, a parent a point, and 4 d
// numbers and 2 bytes a leaf.
#pragma once

#include "engines/kdtree/bucket_tree.hpp"
#include "engines/kdtree/link.hpp"
#include "groups/fof.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace kith::detail {

/// Joins all points within a length of each other; `parents` has one element for each point. Returns the groups.
template <Coordinate T>
UnionFind link_by_range_queries(Context& context, const BucketTree<T>& tree, T squared_length,
                                Buffer<std::int32_t>& parents) {
    using kdtree::Node;
    const auto nodes = static_cast<Node>(2 * tree.leaves - 1);
    constexpr std::int64_t vector_padding = 16;
    const std::int64_t stride = nodes + vector_padding;
    const int dimension = tree.points.frame.dimension;
    Buffer<T> corners(context.memory_tracker(), 2 * dimension * stride);
    Buffer<std::uint8_t> whole(context.memory_tracker(), nodes);
    const RangeQueryJob<T> job{&tree,          link_job<T>(tree.points, nullptr, squared_length, parents),
                               corners.data(), corners.data() + dimension * stride,
                               stride,         whole.data()};
    // Tasks are the subtrees of a level, sixteen a thread; all levels but the lowest are complete.
    int level = 0;
    while (level + 2 < kdtree::levels_of(nodes) && (1 << level) < 16 * context.threads()) {
        ++level;
    }
    const Node first = kdtree::first_of_level(level);
    const std::int64_t tasks = std::min<std::int64_t>(std::int64_t{1} << level, nodes - first);
    context.expect(2 * tasks);
    const auto for_each_subtree = [&](void (*run)(const RangeQueryJob<T>&, Node)) {
        parallel_each(tasks, 1, [&](std::int64_t task) {
            run(job, first + static_cast<Node>(task));
            context.done(1);
        });
    };
    for_each_subtree(start_groups);
    for (Node node = first; node-- > 0;) {
        join_children(job, node);
    }
    for_each_subtree(query_earlier);
    return job.links.groups;
}

/// Runs inside a stage of the context.
template <Coordinate T>
void label_by_range_queries(Context& context, const BucketTree<T>& tree, std::span<std::int32_t> labels,
                            FofSummary& result) {
    Buffer<std::int32_t> parents(context.memory_tracker(), tree.points.count);
    const UnionFind groups =
        link_by_range_queries(context, tree, tree.points.frame.squared_radius(result.linking_length), parents);
    number_groups(context, groups, tree.points.indices.span(), labels, result);
}

} // namespace kith::detail
