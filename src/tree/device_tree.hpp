// The plane tree as kernels read it (plane_tree.hpp).
#pragma once

#include "points/device_points.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

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

} // namespace kith::detail::inline KITH_GPU
