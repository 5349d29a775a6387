// What the k-d tree does on a GPU, compiled for every type and dimension on its own (kdtree_instance.ipp).
#pragma once

#include <kith/kdtree_order.hpp>

#include "groups/device_entry.hpp"
#include "neighbors/device_entry.hpp"

#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

/// A k-d tree of one point or more, which may be the host's. Runs the stages "upload", for points of the host, and
/// "tree".
template <Coordinate T, int D>
DeviceTreeHandle build_kd_tree_on_device(DeviceContext& context, const PointsView& points, const Box& box);

/// The neighbors of the queries, which may be the host's, or of the tree's points themselves if there are none.
template <Coordinate T, int D>
SearchSummary search_kd_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const PointsView* queries,
                                       const DeviceKnnCall& call);

/// The neighbors within a radius.
template <Coordinate T, int D>
SearchSummary search_kd_radius_on_device(DeviceContext& context, const DeviceTreeHandle& tree,
                                         const PointsView* queries, const DeviceRadiusCall& call);

/// The groups of the tree's points, labels into memory of the host or of the GPU.
template <Coordinate T, int D>
void label_kd_tree_on_device(DeviceContext& context, const DeviceTreeHandle& tree, LinkingLength length,
                             std::span<std::int32_t> labels, FofSummary& result);

/// The same of points that are there, in any order, where the lengths have been resolved: of phase space.
template <Coordinate T, int D>
void label_by_range_queries_on_device(DeviceContext& context, const DeviceTreeHandle& points,
                                      std::span<std::int32_t> labels, FofSummary& result);

/// The order of points (kdtree_order.hpp), to memory of the host or of the GPU.
template <Coordinate T, int D>
void order_kd_tree_on_device(DeviceContext& context, const PointsView& points, kdtree::Split split,
                             std::span<std::int32_t> indices, std::span<std::uint8_t> split_axes,
                             KdTreeSummary& result);

} // namespace kith::detail::inline KITH_GPU
