// CLOVER of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "engines/clover/device_entry.hpp"
#include "engines/clover/search_device.hpp"
#include "neighbors/count_on_host.hpp"
#include "neighbors/device_rows.hpp"
#include "points/gather_device.hpp"
#include "points/normalize_device.hpp"

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
    std::optional<PointsOnDevice<T>> queries_there;
    std::optional<NormalizedPoints<T>> normalized_queries;
    if (queries != nullptr) {
        queries_there.emplace(points_on_device<T>(context, *queries));
        normalized_queries = normalize_queries_on_device<T, D>(context, queries_there->view(), frame);
        has_tiny = has_tiny || normalized_queries->has_tiny;
        add_queries(blocks, -1, 0, static_cast<std::int32_t>(queries->count()));
    }
    CountOnHost<T> count(
        context, frame, has_tiny, [&] { return host_rows<T>(context, points); }, queries);
    const RowsOnDevice<T> rows(context, *call.rows,
                               count.is_needed() ? call.k * (queries != nullptr ? queries : &points)->count() : 0);
    const DeviceBuffer<SearchFrame<T>> in_frame =
        stored(context, "search", search_frame<T, D>(frame, wanted_by(call), points.count()));
    const DeviceRequest<T> request = device_request(call, in_frame.data(), rows.memory());
    context.stage("search", [&] {
        if (normalized_queries) {
            const DevicePointSet<T> gathered = gather_on_device<T, D>(context, *normalized_queries);
            cells->template search<D>(context, gathered.view(), blocks, request);
        } else {
            cells->template search<D>(context, cells->points(), blocks, request);
        }
    });
    rows.deliver(context);
    return count.of(context, rows, call.k);
}

template SearchSummary search_cells_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                           const PointsView*, const DeviceKnnCall&,
                                                                           std::int64_t);

} // namespace kith::detail::inline KITH_GPU
