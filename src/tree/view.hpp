// The plane tree as walks read it, on the CPU and on a GPU: plain pointers to arrays that others own.
#pragma once

#include "points/point_set_view.hpp"
#include "support/host_device.hpp"

#include <array>
#include <cstdint>

namespace kith::detail {

/// One plane of nodes (plane_tree.hpp).
template <class T>
struct PlaneView {
    std::int32_t nodes = 0;
    std::int64_t stride = 0; ///< between axes of the corners
    const std::int32_t* first_point = nullptr;
    const std::int32_t* first_child = nullptr; ///< on the plane below; null on plane 0
    const std::int32_t* smallest_index = nullptr;
    const T* lower_corners = nullptr; ///< axis after axis
    const T* upper_corners = nullptr;

    [[nodiscard]] KITH_HOST_DEVICE const T* lower(int axis) const noexcept { return lower_corners + axis * stride; }
    [[nodiscard]] KITH_HOST_DEVICE const T* upper(int axis) const noexcept { return upper_corners + axis * stride; }
    [[nodiscard]] KITH_HOST_DEVICE std::int32_t points_in(std::int64_t node) const noexcept {
        return first_point[node + 1] - first_point[node];
    }
};

/// From plane to plane the most points of a node at least double, from 1 on, until one node may hold them all: there
/// are never more. A warp that walks down keeps the state of one plane in each lane.
inline constexpr int max_planes = 32;

template <class T>
struct TreeView {
    PointSetView<T> points;
    Periods<T> period;
    int top = -1; ///< -1: there are no points
    std::array<PlaneView<T>, max_planes> planes;
};

} // namespace kith::detail
