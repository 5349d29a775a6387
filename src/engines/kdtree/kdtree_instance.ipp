// The k-d tree of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "engines/kdtree/device_entry.hpp"
#include "engines/kdtree/search_device.hpp"
#include "engines/search_device.hpp"

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
SearchSummary search_kd_tree_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                       const DeviceKnnCall& call) {
    return search_copies_on_device<T, D>(
        context, points, queries, call,
        [&](const DevicePointSet<T>& sources, const DevicePointSet<T>* others, const DeviceRequest<T>& request) {
            search_kd_tree(context, build_kd_tree_on_device<T, D>(context, sources), sources.frame, others, request);
        });
}

template SearchSummary search_kd_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                             const PointsView*, const DeviceKnnCall&);

} // namespace kith::detail::inline KITH_GPU
