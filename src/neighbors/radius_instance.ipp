// The radius search of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "neighbors/device_entry.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/radius_device.hpp"
#include "points/normalize_device.hpp"
#include "tree/build_device.hpp"

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
SearchSummary search_radius_on_device(DeviceContext& context, const DeviceTreeHandle& tree, const TreeShape& shape,
                                      const PointsView* queries, const DeviceRadiusCall& call) {
    const DevicePlaneTree<T>& sources = tree.as<DevicePlaneTree<T>>();
    const Frame<T>& frame = sources.points.frame;
    const auto given = [&] { return given_rows(context, sources); };
    const std::int64_t count = sources.points.count;
    if (queries == nullptr) {
        check_radii(call, frame, count, count, true, given);
        CountOnHost<T> unresolved(context, frame, frame.has_tiny && call.counts == nullptr, given, nullptr);
        return search_radius<T>(context, RadiusWalkOfPlanes<T, D>(sources, sources), call, unresolved);
    }
    const PointsOnDevice there = points_on_device(context, *queries);
    const NormalizedPoints<T> normalized = normalize_queries_on_device<T, D>(context, there.view(), frame);
    check_radii(call, frame, queries->count(), count, false, given);
    CountOnHost<T> unresolved(context, frame, (frame.has_tiny || normalized.has_tiny) && call.counts == nullptr, given,
                              queries);
    const TreeShape of_queries = query_tree_shape(device_tree_shape(shape), count, queries->count());
    const DevicePlaneTree<T> query_tree = build_device_tree<T, D>(context, normalized, of_queries);
    return search_radius<T>(context, RadiusWalkOfPlanes<T, D>(query_tree, sources), call, unresolved);
}

template SearchSummary search_radius_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                            const TreeShape&, const PointsView*,
                                                                            const DeviceRadiusCall&);

} // namespace kith::detail::inline KITH_GPU
