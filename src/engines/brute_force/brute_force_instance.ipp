// Brute force of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "engines/brute_force/device_entry.hpp"
#include "engines/brute_force/link_device.hpp"
#include "engines/brute_force/search_async.hpp"
#include "engines/brute_force/search_device.hpp"
#include "neighbors/count_on_host.hpp"
#include "neighbors/device_rows.hpp"
#include "points/normalize_device.hpp"

#include <optional>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
UnresolvedRows search_all_pairs_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                          const DeviceKnnCall& call) {
    const PointsOnDevice<T> there = points_on_device<T>(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), call.options.box);
    std::optional<PointsOnDevice<T>> queries_there;
    std::optional<NormalizedPoints<T>> normalized_queries;
    if (queries != nullptr) {
        queries_there.emplace(points_on_device<T>(context, *queries));
        normalized_queries = normalize_queries_on_device<T, D>(context, queries_there->view(), normalized.frame);
    }
    DeviceRequest<T> request = device_request(normalized.frame, call);
    CountOnHost<T> count(
        context, normalized.frame, normalized.has_tiny || (normalized_queries && normalized_queries->has_tiny),
        [&] { return host_rows<T>(context, points); }, queries);
    const RowsOnDevice<T> rows(context, *call.rows,
                               count.is_needed() ? call.k * (queries != nullptr ? queries : &points)->count() : 0);
    request.rows = rows.memory();
    context.stage("search", [&] {
        const DevicePointSet<T> sources = gather_on_device<T, D>(context, normalized);
        if (normalized_queries) {
            run_all_pairs<T, D>(context, gather_on_device<T, D>(context, *normalized_queries), sources, request);
        } else {
            run_all_pairs<T, D>(context, sources, sources, request);
        }
    });
    rows.deliver(context);
    return count.of(context, rows, call.k);
}

template <Coordinate T, int D>
void label_all_pairs_on_device(DeviceContext& context, const PointsView& points, const Box& box, LinkingLength length,
                               std::span<std::int32_t> labels, FofSummary& result) {
    const PointsOnDevice<T> there = points_on_device<T>(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), box);
    const Frame<T>& frame = normalized.frame;
    label_on_device(
        context, frame, points.count(), length, labels, result, [&] { return host_rows<T>(context, points); },
        [&](std::int32_t* to) {
            const DevicePointSet<T> gathered = gather_on_device<T, D>(context, normalized);
            return label_groups_all_pairs<T, D>(context, gathered.view(), frame.working_period, frame.periodic,
                                                squared_length(frame, result), to);
        });
}

template <Coordinate T, int D>
void search_all_pairs_async_on_device(DeviceWork& work, const DeviceKnnAsync& search) {
    const DeviceBuffer<ResolvedFrame<T>> resolved_frame = work.buffer<ResolvedFrame<T>>(2); // sources, queries
    const PlainBox box(search.call.options.box, D);
    const DevicePointSet<T> sources =
        copy_points_async<T, D>(work, search.points, {box, nullptr, resolved_frame.data(), search.status});
    if (!search.queries) {
        compare_all_async<T, D>(work, search, sources, sources, resolved_frame.data());
        return;
    }
    ResolvedFrame<T>* const of_queries = resolved_frame.data() + 1;
    compare_all_async<T, D>(
        work, search,
        copy_points_async<T, D>(work, *search.queries, {box, resolved_frame.data(), of_queries, search.status}),
        sources, of_queries);
}

template <Coordinate T, int D>
void label_all_pairs_async_on_device(DeviceWork& work, const DeviceFofAsync& fof) {
    const DeviceBuffer<ResolvedFrame<T>> resolved_frame = work.buffer<ResolvedFrame<T>>(1);
    const DevicePointSet<T> points = copy_points_async<T, D>(
        work, fof.points, {PlainBox(fof.options.box, D), nullptr, resolved_frame.data(), fof.status});
    label_async(
        work, fof, resolved_frame.data(), points, [&](const DeviceUnionFind& groups, const LengthToResolve<T>& length) {
            link_all_pairs_async<T, D>(work, {points.view(), {}, 0, groups}, is_periodic(fof.options.box, D), length);
        });
}

template UnresolvedRows search_all_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                                const PointsView*,
                                                                                const DeviceKnnCall&);
template void label_all_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&, const Box&,
                                                                     LinkingLength, std::span<std::int32_t>,
                                                                     FofSummary&);
template void search_all_pairs_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceKnnAsync&);
template void label_all_pairs_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceFofAsync&);

} // namespace kith::detail::inline KITH_GPU
