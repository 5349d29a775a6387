// What a receiver walk (receiver_walk-inl.hpp) keeps from task to task, and which nodes are tasks.
#pragma once

#include "support/scratch_array.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Consecutive points of the sources.
struct IndexRange {
    std::int32_t first;
    std::int32_t last; ///< one past
};

/// Source nodes that can matter to a receiving node.
template <Coordinate T>
struct InteractionList {
    ScratchArray<std::int32_t> nodes;
    ScratchArray<T> least; ///< squared distance to the receiver's box
    ScratchArray<T> greatest;
    std::int64_t size = 0;
};

/// Memory of one thread, so that the inner loops allocate nothing.
template <Coordinate T>
struct WalkScratch {
    std::vector<InteractionList<T>> lists; ///< one per step of the schedule, and one for its start
    ScratchArray<std::int32_t> near_nodes; ///< of the list above the leaves
    ScratchArray<T> lower_corners;         ///< of their boxes
    ScratchArray<T> upper_corners;
    ScratchArray<IndexRange> ranges;
};

/// The coarsest plane that has sixteen nodes for each thread, so that uneven tasks even out; else the leaves.
template <Coordinate T>
[[nodiscard]] int plane_of_tasks(const TreeView<T>& tree, int threads) {
    constexpr std::int64_t tasks_per_thread = 16;
    int plane = tree.top;
    while (plane > 0 && tree.planes[plane].nodes < tasks_per_thread * threads) {
        --plane;
    }
    return plane;
}

} // namespace kith::detail
