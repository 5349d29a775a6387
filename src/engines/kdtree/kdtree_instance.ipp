// The k-d tree of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "engines/kdtree/device_entry.hpp"
#include "engines/kdtree/link_device.hpp"
#include "engines/kdtree/order_device.hpp"
#include "engines/kdtree/radius_device.hpp"
#include "engines/kdtree/search_device.hpp"
#include "engines/label_device.hpp"
#include "engines/search_device.hpp"
#include "tree/device_planes.hpp"

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

template <Coordinate T, int D>
void label_by_range_queries_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                      LinkingLength length, std::span<std::int32_t> labels, FofSummary& result) {
    label_copies_on_device<T, D>(
        context, points, box, length, labels, result, [&](const DevicePointSet<T>& copy, std::int32_t* to) {
            return label_by_range_queries<T, D>(context, copy, result.linking_length, to);
        });
}

template <Coordinate T, int D>
void label_by_range_queries_on_device(DeviceContext& context, const DeviceTreeHandle& points,
                                      std::span<std::int32_t> labels, FofSummary& result) {
    label_on_device(context, labels, result, [&](std::int32_t* to) {
        return label_by_range_queries<T, D>(context, points.as<T>().points, result.linking_length, to);
    });
}

template SearchSummary search_kd_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                             const PointsView*, const DeviceKnnCall&);
template void label_by_range_queries_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                            const Box&, LinkingLength,
                                                                            std::span<std::int32_t>, FofSummary&);
template void label_by_range_queries_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                            std::span<std::int32_t>, FofSummary&);
template SearchSummary search_kd_radius_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                               const PointsView*,
                                                                               const DeviceRadiusCall&);
template void order_kd_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&, kdtree::Split,
                                                                   std::span<std::int32_t>, std::span<std::uint8_t>,
                                                                   KdTreeSummary&);

} // namespace kith::detail::inline KITH_GPU
