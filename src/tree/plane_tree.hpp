// The z-ordered plane tree as the stages see it: sorted points and planes of nodes, all structures of arrays.
//
// A plane partitions the sorted points into contiguous nodes. Plane 0 holds the leaves; the children of a node are
// contiguous on the plane below; all leaves are at the same depth. Every node knows its points, its tight bounding box
// and the smallest original index in it. Source: jz-tree paper, section II-C.
#pragma once

#include <kith/tree.hpp>

#include "points/phase_space.hpp"
#include "points/point_set.hpp"
#include "support/context.hpp"
#include "support/donated_memory.hpp"
#include "tree/device_handle.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

namespace kith::detail {

template <Coordinate T>
struct Plane {
    std::int64_t nodes = 0;
    std::int64_t stride = 0;          ///< between axes of a box array
    Buffer<std::int32_t> first_point; ///< nodes + 1
    Buffer<std::int32_t> first_child; ///< nodes + 1, on the plane below; empty on plane 0
    Buffer<std::int32_t> smallest_index;
    Buffer<T> lower_corners; ///< axis after axis
    Buffer<T> upper_corners;

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

template <Coordinate T>
struct PlaneTree {
    PointSet<T> points; ///< in z-order
    std::vector<Plane<T>> planes;
    std::vector<T> as_given; ///< row-major, for kept trees with tiny coordinates, which scaling may have changed

    [[nodiscard]] TreeView<T> view() const noexcept {
        TreeView<T> tree;
        tree.points = points.view();
        tree.period = points.frame.working_period;
        tree.top = static_cast<int>(planes.size()) - 1;
        std::transform(planes.begin(), planes.end(), tree.planes.begin(),
                       [](const Plane<T>& plane) { return plane.view(); });
        return tree;
    }
};

/// Points in any order as walks read them, without planes.
template <Coordinate T>
TreeView<T> without_planes(const PointSet<T>& points) {
    TreeView<T> view;
    view.points = points.view();
    view.period = points.frame.working_period;
    return view;
}

/// Orders and cuts; runs the stages "order" and "tree" of the context. What is spare is free again afterwards.
template <Coordinate T>
PlaneTree<T> build_plane_tree(Context& context, const NormalizedPoints<T>& points, const TreeShape& shape,
                              const DonatedMemory& spare = {});

/// The same over points of phase space: in the order of their positions, with boxes of all coordinates.
template <Coordinate T>
PlaneTree<T> build_plane_tree(Context& context, const PhaseSpacePoints<T>& points, const TreeShape& shape = {});

/// The type-erased contents of kith::Tree.
struct TreeData {
    std::variant<PlaneTree<float>, PlaneTree<double>> tree;
    std::optional<DeviceTreeHandle> on_device; ///< instead, if the tree is a GPU's
    Device device;
    Device given_on; ///< where the points were
    DType dtype = DType::float32;
    Box box;
    TreeShape shape;
    StageReports stages;

    template <Coordinate T>
    [[nodiscard]] const PlaneTree<T>& as() const {
        return std::get<PlaneTree<T>>(tree);
    }
};

} // namespace kith::detail
