// Links by range queries in a k-d tree on a GPU.
#pragma once

#include "engines/kdtree/link_kernel.hpp"
#include "engines/kdtree/search_device.hpp"
#include "groups/link_device.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Links all friends, by node. All nodes get parents.
template <Coordinate T, int D>
void link_by_range_queries(DeviceWork& work, const KeptKdTree<T, D>& tree, const LinkFrame<T>* frame,
                           const DeviceUnionFind& groups) {
    separate_points(work, tree.count(), groups);
    launch(work, "linking by range queries", link_by_range_queries_kernel<T, D>,
           (tree.count() + range_query_threads - 1) / range_query_threads, range_query_threads,
           {tree.view(), frame, groups});
}

/// Groups of points at a length that has been resolved; labels as label_groups() has them.
template <Coordinate T, int D>
DeviceGroups label_by_range_queries(DeviceContext& context, const KeptKdTree<T, D>& tree, double linking_length,
                                    std::int32_t* labels) {
    return label_groups(context, tree.nodes(), tree.frame.working_period, tree.frame.squared_radius(linking_length),
                        labels, [&](const DeviceUnionFind& groups, const LinkFrame<T>* frame) {
                            link_by_range_queries(context, tree, frame, groups);
                        });
}

} // namespace kith::detail::inline KITH_GPU
