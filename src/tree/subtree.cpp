#include "tree/subtree.hpp"

#include "support/parallel.hpp"
#include "support/prefix_sums.hpp"
#include "tree/summaries.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace kith::detail {

namespace {

/// The nodes that are not empty, of those that start at the given positions.
template <Coordinate T>
Plane<T> plane_without_empty_nodes(Context& context, const Buffer<std::int32_t>& starts, int dimension) {
    const std::int64_t nodes = starts.size() - 1;
    Plane<T> plane;
    plane.first_point = Buffer<std::int32_t>(context.memory_tracker(), nodes + 1);
    plane.nodes = prefix_sums<std::int64_t>(
        nodes, [&](std::int64_t i) { return starts[i + 1] > starts[i] ? 1 : 0; },
        [&](std::int64_t i, std::int64_t node) {
            if (starts[i + 1] > starts[i]) {
                plane.first_point[node] = starts[i];
            }
        });
    plane.first_point[plane.nodes] = starts[nodes];
    add_boxes(context, plane, dimension);
    return plane;
}

} // namespace

template <Coordinate T>
PlaneTree<T> subtree(Context& context, const PlaneTree<T>& tree, const Buffer<std::uint8_t>& is_wanted) {
    PlaneTree<T> part;
    const Plane<T>& leaves = tree.planes.front();
    Buffer<std::int32_t> starts(context.memory_tracker(), leaves.nodes + 1); // of all nodes of a plane, empty ones too
    const auto wanted = prefix_sums<std::int32_t>(
        leaves.nodes,
        [&](std::int64_t leaf) {
            const std::uint8_t* flags = is_wanted.data();
            return std::accumulate(flags + leaves.first_point[leaf], flags + leaves.first_point[leaf + 1], 0);
        },
        [&](std::int64_t leaf, std::int32_t start) { starts[leaf] = start; });
    starts[leaves.nodes] = wanted;
    part.points = make_point_set(context, tree.points.frame, wanted);
    parallel_each(leaves.nodes, 256, [&](std::int64_t leaf) {
        if (starts[leaf] < starts[leaf + 1]) {
            copy_points(tree.points, leaves.first_point[leaf], leaves.first_point[leaf + 1], is_wanted, part.points,
                        starts[leaf]);
        }
    });
    if (wanted == 0) {
        return part;
    }
    for (const Plane<T>& plane : tree.planes) {
        if (!part.planes.empty()) {
            Buffer<std::int32_t> of_children = std::move(starts);
            starts = Buffer<std::int32_t>(context.memory_tracker(), plane.nodes + 1);
            parallel_each(plane.nodes + 1, 1 << 12,
                          [&](std::int64_t node) { starts[node] = of_children[plane.first_child[node]]; });
        }
        Plane<T> kept = plane_without_empty_nodes<T>(context, starts, tree.points.dimension());
        if (part.planes.empty()) {
            summarize_points(kept, part.points);
        } else {
            find_children(context, kept, part.planes.back());
            summarize_nodes(kept, part.planes.back(), tree.points.dimension());
        }
        part.planes.push_back(std::move(kept));
    }
    return part;
}

template PlaneTree<float> subtree(Context&, const PlaneTree<float>&, const Buffer<std::uint8_t>&);
template PlaneTree<double> subtree(Context&, const PlaneTree<double>&, const Buffer<std::uint8_t>&);

} // namespace kith::detail
