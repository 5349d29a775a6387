// A search for neighbors on a GPU that takes a working copy of the points in the order given: what its engines share.
#pragma once

#include "neighbors/count_on_host.hpp"
#include "neighbors/device_rows.hpp"
#include "points/gather_device.hpp"
#include "points/normalize_device.hpp"

#include <optional>

namespace kith::detail::inline KITH_GPU {

/// Calls search(sources, queries, request) inside a stage, queries null in a self-search, and delivers the rows.
template <Coordinate T, int D, class Search>
SearchSummary search_copies_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                      const DeviceKnnCall& call, const Search& search) {
    const PointsOnDevice<T> there = points_on_device<T>(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), call.options.box);
    std::optional<PointsOnDevice<T>> queries_there;
    std::optional<NormalizedPoints<T>> normalized_queries;
    if (queries != nullptr) {
        queries_there.emplace(points_on_device<T>(context, *queries));
        normalized_queries = normalize_queries_on_device<T, D>(context, queries_there->view(), normalized.frame);
    }
    const DeviceBuffer<SearchFrame<T>> frame =
        stored(context, "search", search_frame<T, D>(normalized.frame, wanted_by(call), points.count()));
    CountOnHost<T> count(
        context, normalized.frame, normalized.has_tiny || (normalized_queries && normalized_queries->has_tiny),
        [&] { return host_rows<T>(context, points); }, queries);
    const RowsOnDevice<T> rows(context, *call.rows,
                               count.is_needed() ? call.k * (queries != nullptr ? queries : &points)->count() : 0);
    const DeviceRequest<T> request = device_request(call, frame.data(), rows.memory());
    context.stage("search", [&] {
        const DevicePointSet<T> sources = gather_on_device<T, D>(context, normalized);
        if (normalized_queries) {
            const DevicePointSet<T> of_queries = gather_on_device<T, D>(context, *normalized_queries);
            search(sources, &of_queries, request);
        } else {
            search(sources, static_cast<const DevicePointSet<T>*>(nullptr), request);
        }
    });
    rows.deliver(context);
    return count.of(context, rows, call.k);
}

} // namespace kith::detail::inline KITH_GPU
