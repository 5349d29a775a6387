// What a receiver walk (receiver_walk-inl.hpp) keeps from task to task.
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

} // namespace kith::detail
