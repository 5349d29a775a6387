// CLOVER of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "engines/clover/device_entry.hpp"
#include "engines/clover/search_device.hpp"
#include "engines/search_device.hpp"

#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
SearchSummary search_cells_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                     const DeviceKnnCall& call, std::int64_t flat_hubs) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), call.options.box);
    const DeviceCells<T> cells = build_cells_on_device<T, D>(context, normalized, flat_hubs);
    std::vector<CellQueries> blocks;
    for (std::int32_t cell = 0; cell < cells.cells.nodes && queries == nullptr; ++cell) {
        add_queries(blocks, cell, cells.first_point[cell], cells.first_point[cell + 1]);
    }
    const QueriesOnDevice<T, D> others(context, queries, normalized.frame);
    if (queries != nullptr) {
        add_queries(blocks, -1, 0, static_cast<std::int32_t>(queries->count()));
    }
    return search_in_order_given<T, D>(
        context, normalized.frame, normalized.has_tiny, points, queries, call, others,
        [&](const DevicePointSet<T>* of_queries, const DeviceRequest<T>& request) {
            search_cells<D>(context, cells, of_queries != nullptr ? of_queries->view() : cells.points.view(), blocks,
                            request);
        });
}

template SearchSummary search_cells_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                           const PointsView*, const DeviceKnnCall&,
                                                                           std::int64_t);

} // namespace kith::detail::inline KITH_GPU
