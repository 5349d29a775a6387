// What brute force does on a GPU, compiled for every type and dimension on its own (brute_force_instance.ipp).
#pragma once

#include "groups/device_entry.hpp"
#include "neighbors/device_entry.hpp"

#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

/// The neighbors of the queries, or of the points themselves if there are none.
template <Coordinate T, int D>
SearchSummary search_all_pairs_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                         const DeviceKnnCall& call);

/// The groups of the points, labels into memory of the host or of the GPU.
template <Coordinate T, int D>
void label_all_pairs_on_device(DeviceContext& context, const PointsView& points, const Box& box, LinkingLength length,
                               std::span<std::int32_t> labels, FofSummary& result);

/// The same of points that are there, in any order, where the lengths have been resolved: of phase space.
template <Coordinate T, int D>
void label_all_pairs_on_device(DeviceContext& context, const DeviceTreeHandle& points, std::span<std::int32_t> labels,
                               FofSummary& result);

/// Both without a wait: put on the stream, or measured for how much memory they take.
template <Coordinate T, int D>
void search_all_pairs_async_on_device(DeviceWork& work, const DeviceKnnAsync& search);
template <Coordinate T, int D>
void label_all_pairs_async_on_device(DeviceWork& work, const DeviceFofAsync& fof);

} // namespace kith::detail::inline KITH_GPU
