// The plane tree as kernels read it (plane_tree.hpp).
#pragma once

#include "cuda/words.hpp"
#include "points/device_points.hpp"

#include <array>
#include <cstdint>

namespace kith::detail {

template <class T>
struct DevicePlane {
    std::int32_t nodes = 0;
    std::int64_t stride = 0; ///< between axes of the corners
    const std::int32_t* first_point = nullptr;
    const std::int32_t* first_child = nullptr;
    const std::int32_t* smallest_index = nullptr;
    const T* lower_corners = nullptr;
    const T* upper_corners = nullptr;
};

/// Whether all points of a node are at one place. Such a node's points are in order of index, however many.
template <class T, int D>
__device__ bool is_one_place(const DevicePlane<T>& plane, std::int32_t node) {
    bool same = true;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        same =
            same && plane.lower_corners[axis * plane.stride + node] == plane.upper_corners[axis * plane.stride + node];
    }
    return same;
}

/// From plane to plane the most points of a node at least double, from 1 on, until one node may hold them all: there are
/// never more. A warp that walks down keeps the state of one plane in each lane.
inline constexpr int most_planes = 32;

template <class T>
struct DeviceTree {
    DevicePoints<T> points;
    DevicePeriod<T> period;
    int top = -1; ///< -1: there are no points
    std::array<DevicePlane<T>, most_planes> planes;
};

} // namespace kith::detail
