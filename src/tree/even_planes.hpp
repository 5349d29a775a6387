// Planes of a shape that the number of points alone decides, on a GPU.
//
// Leaves are runs of so many points along the curve, and nodes of the coarser planes runs of so many nodes, the last one
// with what is left. So the host knows every count without looking at the points. Nodes are no cells: a run that goes
// from one cell to the next has a box that holds much of neither, and a point far from all others widens the boxes of all
// nodes above it. Answers do not depend on that; the time does.
#pragma once

#include "tree/device_planes.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

struct EvenPlaneKernelJob {
    std::int64_t nodes;
    std::int64_t points_of_node;
    std::int64_t points;
    std::int64_t children_of_node;
    std::int64_t children;     ///< nodes of the plane below
    std::int32_t* first_point; ///< nodes + 1
    std::int32_t* first_child; ///< nodes + 1; null for leaves
};

/// One thread more than there are nodes.
template <class Count>
__global__ void cut_evenly_kernel(const __grid_constant__ EvenPlaneKernelJob job) {
    const std::int64_t node = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (node > job.nodes) {
        return;
    }
    const auto within = [](std::int64_t first, std::int64_t end) {
        return static_cast<Count>(first < end ? first : end);
    };
    job.first_point[node] = within(node * job.points_of_node, job.points);
    if (job.first_child != nullptr) {
        job.first_child[node] = within(node * job.children_of_node, job.children);
    }
}

struct EvenShape {
    std::int64_t leaf_size; ///< points of a leaf
    std::int64_t coarsening;
    std::int64_t top_size; ///< most nodes of the top plane
};

/// The planes over sorted points.
template <Coordinate T, int D>
std::vector<OwnedDevicePlane<T>> cut_evenly(DeviceWork& work, const DevicePointSet<T>& points, const EvenShape& shape) {
    std::vector<OwnedDevicePlane<T>> planes;
    std::int64_t below = points.count;
    std::int64_t points_of_node = shape.leaf_size;
    while (below > (planes.empty() ? 0 : shape.top_size)) {
        const std::int64_t children = planes.empty() ? shape.leaf_size : shape.coarsening;
        const std::int64_t nodes = (below + children - 1) / children;
        OwnedDevicePlane<T> plane = room_for_plane<T, D>(work, nodes, !planes.empty());
        launch_threads(
            work, "even planes", cut_evenly_kernel<std::int32_t>, nodes + 1,
            {nodes, points_of_node, points.count, children, below, plane.first_point.data(), plane.first_child.data()});
        if (planes.empty()) {
            summarise_leaves<T, D>(work, plane, points.view());
        } else {
            summarise_children<T, D>(work, plane, planes.back());
        }
        planes.push_back(std::move(plane));
        below = nodes;
        points_of_node *= shape.coarsening;
    }
    return planes;
}

} // namespace kith::detail::inline KITH_GPU
