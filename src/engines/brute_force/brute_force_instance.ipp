// Brute force of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "engines/brute_force/device_entry.hpp"
#include "engines/brute_force/link_device.hpp"
#include "engines/brute_force/search_device.hpp"
#include "engines/search_device.hpp"
#include "groups/link_async.hpp"
#include "neighbors/search_async.hpp"
#include "tree/device_planes.hpp"

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
SearchSummary search_all_pairs_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                         const DeviceKnnCall& call) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), call.options.box);
    return search_in_order_given<T, D>(
        context, normalized.frame, points.count(), [&] { return host_rows<T>(context, points); }, queries, call,
        [&](const DevicePointSet<T>* others, const DeviceRequest<T>& request) {
            const DevicePointSet<T> sources = gather_on_device<T, D>(context, normalized);
            run_all_pairs<T, D>(context, others != nullptr ? *others : sources, sources, request);
        });
}

template <Coordinate T, int D>
void label_all_pairs_on_device(DeviceContext& context, const PointsView& points, const Box& box, LinkingLength length,
                               std::span<std::int32_t> labels, FofSummary& result) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), box);
    resolve_on_device(normalized.frame, points.count(), length, result, [&] { return host_rows<T>(context, points); });
    label_on_device(context, labels, result, [&](std::int32_t* to) {
        return label_all_pairs<T, D>(context, gather_on_device<T, D>(context, normalized), result.linking_length, to);
    });
}

template <Coordinate T, int D>
void label_all_pairs_on_device(DeviceContext& context, const DeviceTreeHandle& points, std::span<std::int32_t> labels,
                               FofSummary& result) {
    label_on_device(context, labels, result, [&](std::int32_t* to) {
        return label_all_pairs<T, D>(context, points.as<DevicePlaneTree<T>>().points, result.linking_length, to);
    });
}

template <Coordinate T, int D>
void search_all_pairs_async_on_device(DeviceWork& work, const DeviceKnnAsync& call) {
    const auto copy = [&](const PointsView& points, const AsyncPoints<T>& known) {
        return copy_points_async<T, D>(work, points, known);
    };
    search_normalized_async<T, D>(
        work, call, [&](const AsyncPoints<T>& known) { return copy(call.points.points(), known); }, copy,
        [&](const DevicePointSet<T>& sources, const DevicePointSet<T>& queries, const DeviceRequest<T>& request) {
            run_all_pairs<T, D>(work, queries, sources, request);
        });
}

template <Coordinate T, int D>
void label_all_pairs_async_on_device(DeviceWork& work, const DeviceFofAsync& fof) {
    label_normalized_async<T, D>(
        work, fof,
        [&](const AsyncPoints<T>& known) { return copy_points_async<T, D>(work, fof.points.points(), known); },
        [&](const DevicePointSet<T>& points, const LinkFrame<T>* frame, const DeviceUnionFind& groups) {
            link_all_pairs<T, D>(work, points, frame, groups);
        });
}

template SearchSummary search_all_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                               const PointsView*, const DeviceKnnCall&);
template void label_all_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&, const Box&,
                                                                     LinkingLength, std::span<std::int32_t>,
                                                                     FofSummary&);
template void label_all_pairs_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                     std::span<std::int32_t>, FofSummary&);
template void search_all_pairs_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceKnnAsync&);
template void label_all_pairs_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceFofAsync&);

} // namespace kith::detail::inline KITH_GPU
