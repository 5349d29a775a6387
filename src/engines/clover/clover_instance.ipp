// CLOVER of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "engines/clover/device_entry.hpp"
#include "engines/clover/search_device.hpp"
#include "engines/search_device.hpp"

#include <optional>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
SearchSummary search_cells_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                     const DeviceKnnCall& call, std::int64_t flat_hubs) {
    std::optional<DeviceCells<T>> cells;
    std::vector<CellQueries> blocks;
    Frame<T> frame;
    bool has_tiny = false;
    context.stage("cells", [&] {
        const bool is_there = points.device().kind == DeviceKind::cuda;
        const HostCopy copy = is_there ? HostCopy(context, points) : HostCopy();
        const HostCells<T> made =
            make_host_cells<T>(is_there ? copy.view() : points, call.options.box, call.options.execution, flat_hubs);
        frame = made.frame;
        has_tiny = made.has_tiny;
        cells.emplace(context, made);
        for (std::int32_t cell = 0; cell < made.cells.nodes && queries == nullptr; ++cell) {
            add_queries(blocks, cell, made.cells.first_point[cell], made.cells.first_point[cell + 1]);
        }
        context.wait(); // for the copies
    });
    const QueriesOnDevice<T, D> others(context, queries, frame);
    if (queries != nullptr) {
        add_queries(blocks, -1, 0, static_cast<std::int32_t>(queries->count()));
    }
    return search_in_order_given<T, D>(context, frame, has_tiny, points, queries, call, others,
                                       [&](const DevicePointSet<T>* of_queries, const DeviceRequest<T>& request) {
                                           cells->template search<D>(
                                               context, of_queries != nullptr ? of_queries->view() : cells->points(),
                                               blocks, request);
                                       });
}

template SearchSummary search_cells_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                           const PointsView*, const DeviceKnnCall&,
                                                                           std::int64_t);

} // namespace kith::detail::inline KITH_GPU
