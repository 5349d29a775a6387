// How the threads of a kernel share what is below the nodes of a plane: a few lanes of a warp for each node.
//
// A node has about as many children as the coarsening factor. It has more where cells split unevenly, at most
// (coarsening - 1) n_max + 1 with the n_max of the plane below: then every split takes a single point off. A leaf has
// up to a warp's points.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

inline constexpr int lanes_of_node = 8;

/// The calling thread's share: every lanes_of_node-th of what is below its node. The grid has lanes_of_node threads for
/// each node, in whole warps; lanes that have no node have nothing below them.
struct LaneOfNode {
    std::int64_t node;
    std::int64_t first; ///< below
    std::int64_t end;
    bool writes; ///< what all lanes of the node found

    /// `first_below` is of each node; one more at the end.
    __device__ static LaneOfNode of_thread(std::int32_t nodes, const std::int32_t* first_below) {
        const std::int64_t thread = thread_index();
        const std::int64_t node = thread / lanes_of_node;
        const int lane = static_cast<int>(thread % lanes_of_node);
        const bool is_one = node < nodes;
        return {node, is_one ? first_below[node] + lane : 0, is_one ? first_below[node + 1] : 0, is_one && lane == 0};
    }
};

} // namespace kith::detail::inline KITH_GPU
