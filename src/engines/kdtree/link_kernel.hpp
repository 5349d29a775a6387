// Friends-of-friends by range queries in a left-balanced k-d tree on a GPU: a thread for each point, the traversal of
// kith/device/kdtree_search.hpp, and the links in the same kernel.
//
// Every pair of friends is met from both sides and linked from that of the later node. Source: GPU halo-finding thesis,
// sections 3.4.2 and 4.4.3. Cost: O(log N) a point, and all
// points in its ball: unlike the CPU (link_cpu.ipp) it passes over no nodes that are one group, so that a clump costs
// the square of its points.
#pragma once

#include <kith/device/kdtree_search.hpp>

#include "groups/friend_search.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

inline constexpr int range_query_threads = 128; ///< of a block

template <class T, int D>
struct RangeQueryKernelJob {
    kdtree::TreeView<kdtree::StructNodes<std::array<T, D>>> tree;
    const LinkFrame<T>* frame;
    DeviceUnionFind groups; ///< of the nodes
};

template <class T, int D>
__global__ void __launch_bounds__(range_query_threads)
    link_by_range_queries_kernel(const __grid_constant__ RangeQueryKernelJob<T, D> job) {
    const std::int64_t thread = thread_index();
    if (thread >= job.tree.count || job.frame->is_refused) {
        return;
    }
    const auto node = static_cast<kdtree::Node>(thread);
    kdtree::Position<T, D> position;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        position.x[axis] = job.tree.coordinate(node, axis);
    }
    const auto join = [&](T /*squared*/, std::int32_t /*index*/, kdtree::Node other) {
        if (other < node) {
            job.groups.unite(static_cast<std::int32_t>(node), static_cast<std::int32_t>(other));
        }
    };
    kdtree::WithinRadius friends(kdtree::SquaredRadius<T>{job.frame->squared_length}, join);
    kdtree::search<kdtree::Traversal::closest_corner>(job.tree, position, friends);
}

} // namespace kith::detail::inline KITH_GPU
