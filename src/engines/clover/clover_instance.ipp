// CLOVER of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "engines/clover/device_entry.hpp"
#include "engines/clover/search_device.hpp"
#include "engines/search_device.hpp"

#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
DeviceTreeHandle build_cells_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                       const CloverOptions& options) {
    return build_index_on_device<DeviceCells<T>, T, D>(
        context, points, box,
        [&](const NormalizedPoints<T>& there) { return make_cells_on_device<T, D>(context, there, options); });
}

template <Coordinate T, int D>
SearchSummary search_cells_on_device(DeviceContext& context, const DeviceTreeHandle& handle, const PointsView* queries,
                                     const DeviceKnnCall& call) {
    const auto& cells = handle.as<DeviceCells<T>>();
    std::vector<CellQueries> blocks;
    for (std::int32_t cell = 0; cell < cells.cells.nodes && queries == nullptr; ++cell) {
        add_queries(blocks, cell, cells.first_point[cell], cells.first_point[cell + 1]);
    }
    if (queries != nullptr) {
        add_queries(blocks, -1, 0, static_cast<std::int32_t>(queries->count()));
    }
    return search_in_order_given<T, D>(
        context, cells.points.frame, cells.points.count,
        [&] { return given_rows(context, cells.points, cells.as_given); }, queries, call,
        [&](const DevicePointSet<T>* others, const DeviceRequest<T>& request) {
            search_cells<D>(context, cells, others != nullptr ? others->view() : cells.points.view(), blocks, request);
        });
}

template DeviceTreeHandle build_cells_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                             const Box&, const CloverOptions&);
template SearchSummary search_cells_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                           const PointsView*, const DeviceKnnCall&);

} // namespace kith::detail::inline KITH_GPU
