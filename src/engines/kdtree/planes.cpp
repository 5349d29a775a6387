#include "engines/kdtree/planes.hpp"

#include "engines/kdtree/bucket_tree.hpp"
#include "tree/summaries.hpp"

#include <cstdint>
#include <utility>

namespace kith::detail {

namespace {

/// Nodes of so many leaves each, by their first points; summed up by the caller.
template <Coordinate T, class LeavesOf>
Plane<T> plane_of(Context& context, const BucketTree<T>& tree, std::int64_t nodes, const LeavesOf& leaves_of) {
    Plane<T> plane;
    plane.nodes = nodes;
    plane.first_point = Buffer<std::int32_t>(context.memory_tracker(), nodes + 1);
    std::int64_t leaf = 0;
    for (std::int64_t node = 0; node < nodes; leaf += leaves_of(node++)) {
        plane.first_point[node] = static_cast<std::int32_t>(leaf * bucket_size);
    }
    plane.first_point[nodes] = static_cast<std::int32_t>(tree.points.count);
    add_boxes(context, plane, tree.points.frame.dimension);
    return plane;
}

template <Coordinate T>
PlaneTree<T> planes_in(Context& context, const UnsortedPoints<T>& points) {
    PlaneTree<T> result;
    if (points.count() == 0) {
        result.points = make_point_set(context, points.frame(), 0);
        return result;
    }
    BucketTree<T> tree = build_bucket_tree(context, points);
    result.planes.push_back(plane_of(context, tree, tree.leaves, [](std::int64_t) { return 1; }));
    summarize_points(result.planes.back(), tree.points);
    constexpr int levels_between = 3;
    const std::int64_t top_size = TreeShape{}.top_size;
    // All nodes of the two lowest levels may not exist.
    const auto nodes = static_cast<kdtree::Node>(2 * tree.leaves - 1);
    int level = kdtree::levels_of(nodes) - 1 - levels_between;
    for (; result.planes.back().nodes > top_size; level -= levels_between) {
        Plane<T> plane = plane_of(context, tree, std::int64_t{1} << level, [&](std::int64_t node) {
            return (kdtree::subtree_size(kdtree::first_of_level(level) + static_cast<kdtree::Node>(node), nodes) + 1) /
                   2;
        });
        find_children(context, plane, result.planes.back());
        summarize_nodes(plane, result.planes.back(), tree.points.dimension());
        result.planes.push_back(std::move(plane));
    }
    result.points = std::move(tree.points);
    return result;
}

template <Coordinate T>
PlaneTree<T> planes_of(Context& context, const UnsortedPoints<T>& points) {
    PlaneTree<T> result;
    context.stage("tree", [&] { result = planes_in(context, points); });
    return result;
}

} // namespace

PlaneTree<float> build_kdtree_planes(Context& context, const UnsortedPoints<float>& points) {
    return planes_of(context, points);
}
PlaneTree<double> build_kdtree_planes(Context& context, const UnsortedPoints<double>& points) {
    return planes_of(context, points);
}

} // namespace kith::detail
