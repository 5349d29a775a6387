// What CLOVER does on a GPU, compiled for every type and dimension on its own (clover_instance.ipp).
#pragma once

#include <kith/tree.hpp>

#include "neighbors/device_entry.hpp"

namespace kith::detail::inline KITH_GPU {

/// Cells of one point or more, which may be the host's, and their graph; check_clover() has passed the options. Runs
/// the stages "upload", for points of the host, "cells" and "graph".
template <Coordinate T, int D>
DeviceTreeHandle build_cells_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                       const CloverOptions& options);

/// The neighbors of the queries, which may be the host's, or of the points of the cells themselves if there are none.
template <Coordinate T, int D>
SearchSummary search_cells_on_device(DeviceContext& context, const DeviceTreeHandle& cells, const PointsView* queries,
                                     const DeviceKnnCall& call);

} // namespace kith::detail::inline KITH_GPU
