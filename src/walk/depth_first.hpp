// A warp's way through a plane tree, depth first, in order of position.
//
// 32 nodes of a plane are asked at once, one by each lane, whether they are wanted; the wanted ones are then gone into
// one after the other. Lane p keeps what is left to do on plane p; nothing else is needed to come back, so neither
// depth nor the number of nodes can overflow.
#pragma once

#include "tree/view.hpp"

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Visits nodes of a tree that is not empty. is_wanted(plane, node) is asked by single lanes. visit(plane, node) is
/// called by the whole warp for every wanted node and says, the same to all lanes, whether to go on to its children; on
/// plane 0 there are none.
template <class T, class IsWanted, class Visit>
__device__ void walk_depth_first(const TreeView<T>& tree, const IsWanted& is_wanted, const Visit& visit) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    std::int32_t kept_first = 0; // what is below, of plane `lane`
    std::int32_t kept_end = 0;
    unsigned kept_left = 0;

    int plane = tree.top;
    std::int32_t first = 0; // of the nodes at hand, on this plane
    std::int32_t end = tree.planes[plane].nodes;
    unsigned left = 0; // which of 32 nodes from the first on are still to be gone into
    bool are_new = true;
    while (true) {
        if (are_new) {
            left = __ballot_sync(whole_warp, lane < end - first && is_wanted(plane, first + lane));
            are_new = false;
        }
        if (left == 0) {
            if (warp_size < end - first) {
                first += warp_size;
                are_new = true;
            } else if (plane == tree.top) {
                return;
            } else {
                ++plane;
                first = __shfl_sync(whole_warp, kept_first, plane);
                end = __shfl_sync(whole_warp, kept_end, plane);
                left = __shfl_sync(whole_warp, kept_left, plane);
            }
            continue;
        }
        const std::int32_t node = first + __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
        if (visit(plane, node) && plane > 0) {
            if (lane == plane) {
                kept_first = first;
                kept_end = end;
                kept_left = left;
            }
            first = tree.planes[plane].first_child[node];
            end = tree.planes[plane].first_child[node + 1];
            --plane;
            are_new = true;
        }
    }
}

} // namespace kith::detail::inline KITH_GPU
