// What CLOVER does on a GPU, compiled for every type and dimension on its own (clover_instance.ipp).
#pragma once

#include "neighbors/device_entry.hpp"

namespace kith::detail::inline KITH_GPU {

/// The neighbors of the queries, or of the points themselves if there are none, into rows. Neither may be empty. The
/// GPU makes the cells. `flat_hubs` is the number of hubs of the flat form, which check_flat_shape() has passed; 0 is
/// for the hierarchical form.
template <Coordinate T, int D>
SearchSummary search_cells_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                     const DeviceKnnCall& call, std::int64_t flat_hubs = 0);

} // namespace kith::detail::inline KITH_GPU
