// The plane tree on a GPU: order, cut, then the planes from the leaves to the top.
//
// The cuts are those of the CPU's tree without regularization: what that is good for, few points far from all others,
// costs the walks of a GPU little, and answers do not depend on it. Cuts are found for the leaves and measured once;
// each coarser plane keeps those whose cells hold more points. The host waits twice: for the number of cuts, and for
// how many of them each plane has.
#pragma once

#include <kith/tree.hpp>

#include "order/order_device.hpp"
#include "points/normalize_device.hpp"
#include "points/phase_space_device.hpp"
#include "tree/cut_kernel.hpp"
#include "tree/device_planes.hpp"
#include "tree/plane_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// Leaves of at most a warp's points, and a top plane that a warp can look at.
inline TreeShape device_tree_shape(TreeShape options) {
    options.leaf_size = std::min(options.leaf_size, warp_size);
    options.top_size = std::min(options.top_size, warp_size);
    return options;
}

/// Of points that are in the order of the curve by their first coordinates, as many as it has axes.
template <Coordinate T, int D, int Axes = D>
class DevicePlaneCutter {
public:
    DevicePlaneCutter(DeviceContext& context, const DevicePointSet<T>& points) : context_(context), points_(points) {}

    [[nodiscard]] std::vector<OwnedDevicePlane<T>> planes(const TreeShape& asked) {
        if (points_.count == 0) {
            return {};
        }
        const TreeShape options = device_tree_shape(asked);
        PlaneSizes sizes; // up to the plane whose one node holds all points
        for (std::int64_t n_max = options.leaf_size;; n_max *= options.coarsening) {
            sizes.n_max[sizes.planes++] = static_cast<std::int32_t>(std::min(n_max, points_.count));
            if (n_max >= points_.count) {
                break;
            }
        }
        cut_leaves(sizes.n_max[0]);
        const std::vector<std::int32_t> cuts = counted(sizes);
        std::vector<OwnedDevicePlane<T>> planes;
        planes.push_back(leaves());
        for (int plane = 1; plane < sizes.planes && planes.back().nodes > options.top_size; ++plane) {
            planes.push_back(coarser(planes.back(), sizes.n_max[plane], cuts[plane]));
        }
        return planes;
    }

private:
    void cut_leaves(std::int32_t n_max) {
        DeviceBuffer<std::uint8_t> is_cut = context_.buffer<std::uint8_t>(points_.count);
        launch_threads(context_, "cuts", mark_cuts_kernel<T, Axes>, points_.count,
                       {points_.view(), n_max, is_cut.data()});
        position_ = positions_of(context_, std::move(is_cut));
        cuts_ = position_.size();
        size_ = context_.buffer<std::int32_t>(cuts_);
        for_each_index(context_, "sizes of cells", cuts_,
                       MeasureCuts<T, Axes>{points_.view(), position_.data(), cuts_, size_.data()});
    }

    /// Cuts of every plane.
    [[nodiscard]] std::vector<std::int32_t> counted(const PlaneSizes& sizes) {
        const DeviceBuffer<std::int32_t> counts = context_.buffer<std::int32_t>(sizes.planes);
        context_.fill(counts.data(), 0, counts.size() * 4);
        launch_threads(context_, "sizes of planes", count_cuts_kernel<std::int32_t>, cuts_,
                       {count(), size_.data(), sizes, counts.data()});
        return context_.to_host(counts.data(), sizes.planes);
    }

    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(cuts_); }

    [[nodiscard]] OwnedDevicePlane<T> leaves() {
        OwnedDevicePlane<T> plane = allocate_plane<T, D>(context_, cuts_ + 1, false);
        for_each_index(context_, "leaves", cuts_ + 1,
                       MakePlane{count(), static_cast<std::int32_t>(points_.count), 0, nullptr, position_.data(),
                                 nullptr, plane.first_point.data(), nullptr, nullptr});
        summarize_leaves<T, D>(context_, plane, points_.view());
        return plane;
    }

    /// The plane above the finer one; its cuts become those at hand.
    [[nodiscard]] OwnedDevicePlane<T> coarser(const OwnedDevicePlane<T>& finer, std::int32_t n_max, std::int32_t cuts) {
        DeviceBuffer<std::int32_t> selected = context_.buffer<std::int32_t>(cuts_);
        {
            const DeviceBuffer<std::uint8_t> is_kept = context_.buffer<std::uint8_t>(cuts_);
            const DeviceBuffer<std::int32_t> number = context_.buffer<std::int32_t>(1);
            for_each_index(context_, "coarser cuts", cuts_, FlagCoarserCuts{size_.data(), n_max, is_kept.data()});
            select_flagged(context_, is_kept.data(), cuts_, selected.data(), number.data());
        }
        OwnedDevicePlane<T> plane = allocate_plane<T, D>(context_, std::int64_t{cuts} + 1, true);
        DeviceBuffer<std::int32_t> sizes = context_.buffer<std::int32_t>(cuts);
        for_each_index(context_, "coarser plane", std::int64_t{cuts} + 1,
                       MakePlane{cuts, static_cast<std::int32_t>(points_.count), static_cast<std::int32_t>(finer.nodes),
                                 selected.data(), position_.data(), size_.data(), plane.first_point.data(),
                                 plane.first_child.data(), sizes.data()});
        summarize_children<T, D>(context_, plane, finer);
        position_ = context_.buffer<std::int32_t>(cuts);
        context_.copy(position_.data(), plane.first_point.data() + 1, std::int64_t{cuts} * 4);
        size_ = std::move(sizes);
        cuts_ = cuts;
        return plane;
    }

    DeviceContext& context_;
    const DevicePointSet<T>& points_;
    std::int64_t cuts_ = 0; ///< of the plane that was made last
    DeviceBuffer<std::int32_t> position_;
    DeviceBuffer<std::int32_t> size_; ///< of the cells
};

/// The tree of a piece of points, within a stage of the caller's: its points keep the indices that they have in the
/// whole.
template <Coordinate T, int D>
DevicePlaneTree<T> build_piece_tree(DeviceContext& context, const NormalizedPoints<T>& piece, std::int32_t first,
                                    const TreeShape& options) {
    DevicePlaneTree<T> tree;
    tree.points = DeviceZOrderSort<T, D>(context, piece, first).sorted();
    tree.planes = DevicePlaneCutter<T, D>(context, tree.points).planes(options);
    return tree;
}

/// Orders and cuts; runs the stages "order" and "tree" of the context. The points are in memory of the device.
template <Coordinate T, int D>
DevicePlaneTree<T> build_device_tree(DeviceContext& context, const NormalizedPoints<T>& points,
                                     const TreeShape& options) {
    DevicePlaneTree<T> tree;
    context.stage("order", [&] { tree.points = DeviceZOrderSort<T, D>(context, points, 0).sorted(); });
    context.stage("tree", [&] { tree.planes = DevicePlaneCutter<T, D>(context, tree.points).planes(options); });
    return tree;
}

/// The same of points of phase space: in the order of their positions, with boxes of all coordinates, as the CPU's
/// (build_planes.ipp).
template <Coordinate T, int D>
DevicePlaneTree<T> build_device_tree(DeviceContext& context, const PhaseSpacePoints<T>& points,
                                     const TreeShape& options) {
    DevicePlaneTree<T> tree;
    context.stage("order", [&] {
        tree.points = DeviceZOrderSort<T, D>(context, points.positions, 0).sorted();
        add_velocities<T, D>(context, points, tree.points);
    });
    context.stage("tree", [&] { tree.planes = DevicePlaneCutter<T, 2 * D, D>(context, tree.points).planes(options); });
    return tree;
}

/// The tree of `count` points of a tree, whose positions are listed in ascending order, within a stage of the caller's.
template <Coordinate T, int D>
DevicePlaneTree<T> build_subtree(DeviceContext& context, const DevicePlaneTree<T>& tree, const std::int32_t* positions,
                                 std::int64_t count, const TreeShape& options) {
    const PointSetView<T> all = tree.points.view();
    DevicePlaneTree<T> part;
    part.points = DevicePointSet<T>(context, tree.points.frame, count);
    for (int axis = 0; axis < D; ++axis) {
        for_each_index(context, "taking points", count,
                       Take<T>{all.axis(axis), positions, part.points.coordinates.data() + axis * part.points.stride});
    }
    for_each_index(context, "taking points", count,
                   Take<std::int32_t>{all.indices, positions, part.points.indices.data()});
    part.planes = DevicePlaneCutter<T, D>(context, part.points).planes(options);
    return part;
}

/// The same, with what else sources need: `given` are they as the caller gave them.
template <Coordinate T, int D>
DevicePlaneTree<T> build_device_tree(DeviceContext& context, const NormalizedPoints<T>& points, const PointsView& given,
                                     const TreeShape& options) {
    DevicePlaneTree<T> tree = build_device_tree<T, D>(context, points, options);
    if (points.has_tiny) {
        tree.as_given = host_rows<T>(context, given);
    }
    return tree;
}

/// The same from points of the caller, which may be the host's: these are uploaded, and the upload is freed in the end.
template <Coordinate T, int D>
DevicePlaneTree<T> build_device_tree(DeviceContext& context, const PointsView& points, const Box& box,
                                     const TreeShape& options) {
    const PointsOnDevice there = points_on_device(context, points);
    return build_device_tree<T, D>(context, normalize_sources_on_device<T, D>(context, there.view(), box), points,
                                   options);
}

/// The tree of points of the host, which are uploaded; without planes if there are none. Runs stages of the context.
template <Coordinate T, int D>
DevicePlaneTree<T> build_uploaded_tree(DeviceContext& context, const NormalizedPoints<T>& points,
                                       const TreeShape& shape) {
    if (points.view.count() == 0) {
        return {};
    }
    const PointsOnDevice there = points_on_device(context, points.view);
    NormalizedPoints<T> uploaded = points;
    uploaded.view = there.view();
    return build_device_tree<T, D>(context, uploaded, shape);
}

} // namespace kith::detail::inline KITH_GPU
