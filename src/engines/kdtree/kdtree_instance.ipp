// The k-d tree of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "engines/kdtree/device_entry.hpp"
#include "engines/kdtree/link_device.hpp"
#include "engines/kdtree/order_device.hpp"
#include "engines/kdtree/radius_device.hpp"
#include "engines/kdtree/search_device.hpp"
#include "engines/search_device.hpp"
#include "tree/device_planes.hpp"

namespace kith::detail::inline KITH_GPU {

namespace {

template <Coordinate T, int D>
KeptKdTree<T, D> kept_kd_tree(DeviceContext& context, const DevicePointSet<T>& points) {
    return {build_kd_tree_on_device<T, D>(context, points), points.frame, {}};
}

} // namespace

template <Coordinate T, int D>
DeviceTreeHandle build_kd_tree_on_device(DeviceContext& context, const PointsView& points, const Box& box) {
    return build_index_on_device<KeptKdTree<T, D>, T, D>(
        context, points, box, [&](const NormalizedPoints<T>& there) {
            KeptKdTree<T, D> kept;
            context.stage("tree",
                          [&] { kept = kept_kd_tree<T, D>(context, gather_on_device<T, D>(context, there)); });
            return kept;
        });
}

template <Coordinate T, int D>
SearchSummary search_kd_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle,
                                       const PointsView* queries, const DeviceKnnCall& call) {
    const auto& tree = handle.as<KeptKdTree<T, D>>();
    return search_in_order_given<T, D>(
        context, tree.frame, tree.count(), [&] { return tree.given_rows(context); }, queries, call,
        [&](const DevicePointSet<T>* others, const DeviceRequest<T>& request) {
            search_kd_tree(context, tree, others, request);
        });
}

template <Coordinate T, int D>
void label_kd_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle, LinkingLength length,
                             std::span<std::int32_t> labels, FofSummary& result) {
    const auto& tree = handle.as<KeptKdTree<T, D>>();
    resolve_on_device(tree.frame, tree.count(), length, result, [&] { return tree.given_rows(context); });
    label_on_device(context, labels, result, [&](std::int32_t* to) {
        return label_by_range_queries(context, tree, result.linking_length, to);
    });
}

template <Coordinate T, int D>
void label_by_range_queries_on_device(DeviceContext& context, const DeviceTreeHandle& points,
                                      std::span<std::int32_t> labels, FofSummary& result) {
    label_on_device(context, labels, result, [&](std::int32_t* to) {
        return label_by_range_queries(
            context, kept_kd_tree<T, D>(context, points.as<DevicePlaneTree<T>>().points), result.linking_length, to);
    });
}

template DeviceTreeHandle build_kd_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                               const Box&);
template SearchSummary search_kd_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                             const PointsView*, const DeviceKnnCall&);
template SearchSummary search_kd_radius_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                               const PointsView*,
                                                                               const DeviceRadiusCall&);
template void label_kd_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                   LinkingLength, std::span<std::int32_t>,
                                                                   FofSummary&);
template void label_by_range_queries_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                            std::span<std::int32_t>, FofSummary&);
template void order_kd_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&, kdtree::Split,
                                                                   std::span<std::int32_t>, std::span<std::uint8_t>,
                                                                   KdTreeSummary&);

} // namespace kith::detail::inline KITH_GPU
