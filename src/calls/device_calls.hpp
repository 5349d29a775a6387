// What the public functions do where they run on a GPU.
//
// Arguments have been checked as far as that does not take the points themselves. Builds without CUDA have these, too:
// they throw unsupported (no_cuda.cpp).
#pragma once

#include "groups/device_entry.hpp"
#include "halos/device_entry.hpp"
#include "mst/device_entry.hpp"
#include "neighbors/device_entry.hpp"
#include "points/frame.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace kith::detail::inline KITH_GPU {

inline bool is_on_gpu(const Execution& execution) noexcept {
    return execution.device.kind == DeviceKind::cuda;
}

/// Throws what a call on this device must not be run with: no CUDA in this build, a dimension that it was not built
/// for.
void require_device(int dimension);

DeviceTreeHandle build_tree_on_device(const PointsView& points, const TreeOptions& options, StageReports& stages);

SearchSummary knn_on_device(const PointsOrTree& points, const PointsView* queries, const DeviceKnnCall& call,
                            Engine engine);

SearchSummary radius_on_device(const PointsOrTree& points, const PointsView* queries, const DeviceRadiusCall& call);

/// Labels, and a result of the engine that it names already.
void fof_on_device(const PointsOrTree& points, LinkingLength length, const FofOptions& options,
                   std::span<std::int32_t> labels, FofSummary& result);

void dbscan_on_device(const PointsOrTree& points, const DbscanOptions& options, const DeviceDbscanCall& call,
                      DbscanSummary& result);

/// Of positions, by that engine.
SpanningTree spanning_tree_on_device(const PointsOrTree& points, const SpanningTreeOptions& options, Engine engine);

bool finds_device() noexcept;

void release_memory_on_device(const Device& device);

/// Memory of the device for a result, given back when nobody holds it any more.
std::shared_ptr<void> result_memory_on_device(std::int64_t bytes, const Execution& execution);

} // namespace kith::detail::inline KITH_GPU
