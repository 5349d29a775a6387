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

} // namespace kith::detail::inline KITH_GPU
