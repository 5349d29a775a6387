// The plane tree in memory of a device: who owns its arrays, and how the boxes of its nodes are found.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"
#include "points/as_given.hpp"
#include "points/device_point_set.hpp"
#include "tree/summary_kernel.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T>
using OwnedDevicePlane = PlaneArrays<T, DeviceBuffer>;

template <Coordinate T>
struct DevicePlaneTree : TreeArrays<T, DevicePointSet<T>, OwnedDevicePlane<T>> {};

/// The points of a tree, or themselves.
template <Coordinate T>
const DevicePointSet<T>& points_of(const DevicePlaneTree<T>& tree) {
    return tree.points;
}
template <Coordinate T>
const DevicePointSet<T>& points_of(const DevicePointSet<T>& points) {
    return points;
}

/// The points of an index as given, on the host, row-major; those of periodic axes perhaps wrapped. `as_given` are they
/// if coordinates are tiny.
template <Coordinate T>
std::vector<T> given_rows(DeviceContext& context, const DevicePointSet<T>& points, const std::vector<T>& as_given) {
    if (points.frame.has_tiny) {
        return as_given;
    }
    const std::vector<T> coordinates = context.to_host(points.coordinates.data(), points.coordinates.size());
    const std::vector<std::int32_t> indices = context.to_host(points.indices.data(), points.count);
    return unscaled_rows<T>(
        points.frame, {coordinates.data(), points.stride, static_cast<std::int32_t>(points.count), indices.data()},
        points.count);
}
template <Coordinate T>
std::vector<T> given_rows(DeviceContext& context, const DevicePlaneTree<T>& tree) {
    return given_rows(context, tree.points, tree.as_given);
}

/// Room for the nodes of a plane.
template <Coordinate T, int D>
OwnedDevicePlane<T> allocate_plane(DeviceWork& work, std::int64_t nodes, bool has_children) {
    OwnedDevicePlane<T> plane;
    plane.nodes = nodes;
    plane.stride = nodes;
    plane.first_point = work.buffer<std::int32_t>(nodes + 1);
    plane.first_child = has_children ? work.buffer<std::int32_t>(nodes + 1) : DeviceBuffer<std::int32_t>();
    plane.smallest_index = work.buffer<std::int32_t>(nodes);
    plane.lower_corners = work.buffer<T>(nodes * D);
    plane.upper_corners = work.buffer<T>(nodes * D);
    return plane;
}

/// Finds the boxes and the smallest indices of nodes that are cut, from the points or from the plane below.
template <Coordinate T, int D>
void summarize(DeviceWork& work, const OwnedDevicePlane<T>& plane, const std::int32_t* first,
               const DeviceBoxes<T>& below) {
    launch_threads(work, "boxes of nodes", summarize_kernel<T, D>, plane.nodes * lanes_of_node,
                   {static_cast<std::int32_t>(plane.nodes), first, below, plane.lower_corners.data(),
                    plane.upper_corners.data(), plane.nodes, plane.smallest_index.data()});
}
template <Coordinate T, int D>
void summarize_leaves(DeviceWork& work, const OwnedDevicePlane<T>& leaves, const PointSetView<T>& points) {
    summarize<T, D>(work, leaves, leaves.first_point.data(),
                    {points.coordinates, points.coordinates, points.stride, points.indices});
}
template <Coordinate T, int D>
void summarize_children(DeviceWork& work, const OwnedDevicePlane<T>& plane, const OwnedDevicePlane<T>& below) {
    summarize<T, D>(work, plane, plane.first_child.data(),
                    {below.lower_corners.data(), below.upper_corners.data(), below.nodes, below.smallest_index.data()});
}

} // namespace kith::detail::inline KITH_GPU
