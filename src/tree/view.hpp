// The plane tree as walks read it, on the CPU and on a GPU: plain pointers to arrays; and who owns these.
#pragma once

#include "points/point_set_view.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

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
    [[nodiscard]] bool is_single_point(std::int64_t node, int dimension) const noexcept {
        bool is_single = true;
        for (int axis = 0; axis < dimension; ++axis) {
            is_single = is_single && lower(axis)[node] == upper(axis)[node];
        }
        return is_single;
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

/// What a plane owns, in memory of the host or of a device.
template <class T, template <class> class Array>
struct PlaneArrays {
    std::int64_t nodes = 0;
    std::int64_t stride = 0;         ///< between axes of the corners
    Array<std::int32_t> first_point; ///< nodes + 1
    Array<std::int32_t> first_child; ///< nodes + 1, on the plane below; empty on plane 0
    Array<std::int32_t> smallest_index;
    Array<T> lower_corners; ///< axis after axis
    Array<T> upper_corners;

    [[nodiscard]] const T* lower(int axis) const noexcept { return lower_corners.data() + axis * stride; }
    [[nodiscard]] const T* upper(int axis) const noexcept { return upper_corners.data() + axis * stride; }
    [[nodiscard]] PlaneView<T> view() const noexcept {
        return {static_cast<std::int32_t>(nodes),
                stride,
                first_point.data(),
                first_child.data(),
                smallest_index.data(),
                lower_corners.data(),
                upper_corners.data()};
    }
};

template <class T, class Points, class Plane>
struct TreeArrays {
    Points points; ///< in z-order
    std::vector<Plane> planes;
    std::vector<T> as_given; ///< on the host, row-major; of kept trees with tiny coordinates, which scaling may change

    [[nodiscard]] TreeView<T> view() const noexcept {
        TreeView<T> tree;
        tree.points = points.view();
        tree.period = points.frame.working_period;
        tree.top = static_cast<int>(planes.size()) - 1;
        std::transform(planes.begin(), planes.end(), tree.planes.begin(),
                       [](const Plane& plane) { return plane.view(); });
        return tree;
    }
};

} // namespace kith::detail
