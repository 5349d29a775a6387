// Indices on a GPU over a working copy of the points, and searches for neighbors among them: what its engines share.
#pragma once

#include "neighbors/count_on_host.hpp"
#include "neighbors/device_rows.hpp"
#include "points/gather_device.hpp"
#include "points/normalize_device.hpp"
#include "tree/device_handle.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace kith::detail::inline KITH_GPU {

/// An index of points, which may be the host's: uploads them, and takes what build(normalized points there) returns.
template <class Index, Coordinate T, int D, class Build>
DeviceTreeHandle build_index_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                       const Build& build) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), box);
    auto index = std::make_shared<Index>(build(normalized));
    if (normalized.has_tiny) {
        index->as_given = host_rows<T>(context, points);
    }
    return handle_of<T>(std::move(index), normalized.frame, points.count());
}

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

/// Calls search(queries, request) inside a stage, queries null in a self-search of `sources` points, and
/// delivers the rows. given() returns the sources as given, on the host, row-major.
template <Coordinate T, int D, class Given, class Search>
SearchSummary search_in_order_given(DeviceContext& context, const Frame<T>& frame, std::int64_t sources,
                                    const Given& given, const PointsView* queries, const DeviceKnnCall& call,
                                    const Search& search) {
    const QueriesOnDevice<T, D> there(context, queries, frame);
    CountOnHost<T> count(context, frame, frame.has_tiny || there.have_tiny(), given, queries);
    const DeviceBuffer<SearchFrame<T>> in_frame =
        stored(context, "search", search_frame<T, D>(frame, wanted_by(call), sources));
    const RowsOnDevice<T> rows(context, *call.rows,
                               count.is_needed() ? call.k * (queries != nullptr ? queries->count() : sources) : 0);
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

} // namespace kith::detail::inline KITH_GPU
