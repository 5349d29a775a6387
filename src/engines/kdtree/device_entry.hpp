// What the k-d tree does on a GPU, compiled for every type and dimension on its own (kdtree_instance.ipp).
#pragma once

#include "neighbors/device_entry.hpp"

namespace kith::detail::inline KITH_GPU {

/// The neighbors of the queries, or of the points themselves if there are none, to rows.
template <Coordinate T, int D>
SearchSummary search_kd_tree_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                       const DeviceKnnCall& call);

} // namespace kith::detail::inline KITH_GPU
