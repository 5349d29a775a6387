// What CLOVER does on a GPU, compiled for every type and dimension on its own (clover_instance.ipp).
#pragma once

#include "neighbors/device_entry.hpp"

namespace kith::detail::inline KITH_GPU {

/// The neighbors of the queries, or of the points themselves if there are none, into rows. Neither may be empty. The
/// cells are made on the GPU: those of the hierarchical form, or of the flat one around so many hubs, for which
/// check_flat_shape() has been asked.
template <Coordinate T, int D>
SearchSummary search_cells_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                     const DeviceKnnCall& call, std::int64_t flat_hubs = 0);

} // namespace kith::detail::inline KITH_GPU
