// Brute force of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "engines/brute_force/device_entry.hpp"
#include "engines/brute_force/link_device.hpp"
#include "engines/brute_force/search_async.hpp"
#include "engines/brute_force/search_device.hpp"
#include "engines/search_device.hpp"

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
SearchSummary search_all_pairs_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                         const DeviceKnnCall& call) {
    return search_copies_on_device<T, D>(
        context, points, queries, call,
        [&](const DevicePointSet<T>& sources, const DevicePointSet<T>* others, const DeviceRequest<T>& request) {
            run_all_pairs<T, D>(context, others != nullptr ? *others : sources, sources, request);
        });
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

template SearchSummary search_all_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                               const PointsView*, const DeviceKnnCall&);
template void label_all_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&, const Box&,
                                                                     LinkingLength, std::span<std::int32_t>,
                                                                     FofSummary&);
template void search_all_pairs_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceKnnAsync&);
template void label_all_pairs_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceFofAsync&);

} // namespace kith::detail::inline KITH_GPU
