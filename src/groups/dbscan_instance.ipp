// DBSCAN of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by CMake's
// kith_add_device_instances().
#include "groups/dbscan_device.hpp"
#include "groups/device_entry.hpp"
#include "groups/part_clusters_device.hpp"

#include <memory>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
void cluster_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle, const TreeShape& shape,
                            const DeviceDbscanCall& call, DbscanSummary& result) {
    const DevicePlaneTree<T>& tree = handle.as<DevicePlaneTree<T>>();
    resolve_eps(call.eps, tree.points.frame, tree.points.count, result, [&] {
        const std::vector<T> points = given_rows(context, tree);
        return largest_coordinate(tree.points.frame, Coordinates<T>(PointsView(points, D)), tree.points.count);
    });
    if (tree.points.count > 0) {
        cluster_on_device<T, D>(context, tree, shape, call, result);
    }
}

template <Coordinate T, int D>
std::unique_ptr<PartClusters<T>> part_clusters_on_device(const Execution& execution,
                                                         const NormalizedPoints<T>& points) {
    return std::make_unique<DevicePartClusters<T, D>>(execution, points);
}

template std::unique_ptr<PartClusters<KITH_SCALAR>>
part_clusters_on_device<KITH_SCALAR, KITH_DIMENSION>(const Execution&, const NormalizedPoints<KITH_SCALAR>&);
template void cluster_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                  const TreeShape&, const DeviceDbscanCall&,
                                                                  DbscanSummary&);

} // namespace kith::detail::inline KITH_GPU
