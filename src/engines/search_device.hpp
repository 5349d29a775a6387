// A search for neighbors on a GPU that takes a working copy of the points in the order given: what its engines share.
#pragma once

#include "neighbors/count_on_host.hpp"
#include "neighbors/device_rows.hpp"
#include "points/gather_device.hpp"
#include "points/normalize_device.hpp"

#include <optional>

namespace kith::detail::inline KITH_GPU {

/// Separate queries, ready for work on the device; none in a self-search.
template <Coordinate T, int D>
struct QueriesOnDevice {
    std::optional<PointsOnDevice> there;
    std::optional<NormalizedPoints<T>> normalized;

    QueriesOnDevice(DeviceContext& context, const PointsView* queries, const Frame<T>& frame) {
        if (queries != nullptr) {
            there.emplace(points_on_device(context, *queries));
            normalized = normalize_queries_on_device<T, D>(context, there->view(), frame);
        }
    }
    [[nodiscard]] bool have_tiny() const { return normalized && normalized->has_tiny; }
};

/// Calls search(queries, request) inside a stage, queries null in a self-search, and delivers the rows.
template <Coordinate T, int D, class Search>
SearchSummary search_in_order_given(DeviceContext& context, const Frame<T>& frame, bool has_tiny,
                                    const PointsView& points, const PointsView* queries, const DeviceKnnCall& call,
                                    const QueriesOnDevice<T, D>& there, const Search& search) {
    CountOnHost<T> count(
        context, frame, has_tiny || there.have_tiny(), [&] { return host_rows<T>(context, points); }, queries);
    const DeviceBuffer<SearchFrame<T>> in_frame =
        stored(context, "search", search_frame<T, D>(frame, wanted_by(call), points.count()));
    const RowsOnDevice<T> rows(context, *call.rows,
                               count.is_needed() ? call.k * (queries != nullptr ? queries : &points)->count() : 0);
    const DeviceRequest<T> request = device_request(call, in_frame.data(), rows.memory());
    context.stage("search", [&] {
        std::optional<DevicePointSet<T>> gathered;
        if (there.normalized) {
            gathered.emplace(gather_on_device<T, D>(context, *there.normalized));
        }
        search(gathered ? &*gathered : nullptr, request);
    });
    rows.deliver(context);
    return count.of(context, rows, call.k);
}

/// Calls search(sources, queries, request) in the same way.
template <Coordinate T, int D, class Search>
SearchSummary search_copies_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                      const DeviceKnnCall& call, const Search& search) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), call.options.box);
    const QueriesOnDevice<T, D> others(context, queries, normalized.frame);
    return search_in_order_given<T, D>(context, normalized.frame, normalized.has_tiny, points, queries, call, others,
                                       [&](const DevicePointSet<T>* of_queries, const DeviceRequest<T>& request) {
                                           search(gather_on_device<T, D>(context, normalized), of_queries, request);
                                       });
}

} // namespace kith::detail::inline KITH_GPU
