// What the public functions do where they run on a GPU.
//
// Arguments have been checked as far as that does not take the points themselves. Builds without CUDA have these, too:
// they throw unsupported (no_cuda.cpp).
#pragma once

#include "groups/device_entry.hpp"
#include "halos/device_entry.hpp"
#include "neighbors/device_entry.hpp"
#include "points/frame.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace kith::detail::inline KITH_GPU {

inline bool is_on_gpu(const Execution& execution) noexcept {
    return execution.device.kind == DeviceKind::cuda;
}

/// Throws what a call on this device must not be run with: no CUDA in this build, a dimension that it was not built for.
void require_device(int dimension);

/// Checks what can be said of sources without looking at them, wherever the call runs.
inline void check_sources(const PointsView& points, const Execution& execution) {
    if (is_on_gpu(execution)) {
        check_shape(points, "points");
        require_device(points.dimension());
    } else {
        check_view(points, "points");
    }
}

DeviceTreeHandle build_tree_on_device(const PointsView& points, const Box& box, const TreeOptions& options,
                                      const Execution& execution, StageReports& stages);

/// A search of a kept tree, which was built with these options.
StageReports search_tree_on_device(const DeviceTreeHandle& tree, DType dtype, const TreeOptions& tree_options,
                                   const PointsView* queries, const DeviceKnnCall& call, const Execution& execution);

/// A search that keeps no tree. Returns the engine that was used.
Engine search_points_on_device(const PointsView& points, const PointsView* queries, const Box& box,
                               const DeviceKnnCall& call, const Execution& execution, StageReports& stages);

FofSummary label_tree_on_device(const DeviceTreeHandle& tree, DType dtype, LinkingLength length,
                                std::span<std::int32_t> labels, const Execution& execution);
FofSummary label_points_on_device(const PointsView& points, const Box& box, LinkingLength length,
                                  const FofOptions& options, std::span<std::int32_t> labels,
                                  const Execution& execution);

/// Memory of the device for a result, given back when nobody holds it any more.
std::shared_ptr<void> result_memory_on_device(std::int64_t bytes, const Execution& execution);

} // namespace kith::detail::inline KITH_GPU
