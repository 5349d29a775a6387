// Links by range queries in a k-d tree on a GPU.
#pragma once

#include "engines/kdtree/build_device.hpp"
#include "engines/kdtree/link_kernel.hpp"
#include "groups/link_device.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Links all friends, by node. All nodes get parents.
template <Coordinate T, int D>
void link_by_range_queries(DeviceWork& work, const DeviceKdTree<T, D>& tree, const Frame<T>& frame,
                           const LinkFrame<T>* in_frame, const DeviceUnionFind& groups) {
    const std::int64_t nodes = tree.nodes.size();
    separate_points(work, nodes, groups);
    launch(work, "linking by range queries", link_by_range_queries_kernel<T, D>,
           (nodes + range_query_threads - 1) / range_query_threads, range_query_threads,
           {tree.view(frame), in_frame, groups});
}

/// Groups of points at a length that has been resolved; labels as label_groups() has them.
template <Coordinate T, int D>
DeviceGroups label_by_range_queries(DeviceContext& context, const DevicePointSet<T>& points, double linking_length,
                                    std::int32_t* labels) {
    const Frame<T>& frame = points.frame;
    const DeviceKdTree<T, D> tree = build_kd_tree_on_device<T, D>(context, points);
    const PointSetView<T> nodes{nullptr, 0, static_cast<std::int32_t>(points.count), tree.indices.data()};
    return label_groups(context, nodes, frame.working_period, frame.squared_radius(linking_length), labels,
                        [&](const DeviceUnionFind& groups, const LinkFrame<T>* in_frame) {
                            link_by_range_queries(context, tree, frame, in_frame, groups);
                        });
}

} // namespace kith::detail::inline KITH_GPU
