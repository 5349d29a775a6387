// Memory of one thread for selecting neighbors, kept from task to task so that the inner loops allocate nothing.
#pragma once

#include "neighbors/candidate.hpp"
#include "support/scratch_array.hpp"
#include "walk/receiver_walk.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace kith::detail {

template <Coordinate T>
struct SelectionScratch {
    using LaneIndex = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

    WalkScratch<T> walk;
    ScratchArray<T> block; ///< source points near a leaf, axis after axis
    ScratchArray<LaneIndex> block_indices;
    ScratchArray<T> distances[2];            ///< from two queries to the block
    ScratchArray<std::int32_t> positions[2]; ///< in the block, of the survivors
    ScratchArray<T> spare_distances;
    ScratchArray<LaneIndex> spare_indices;
    ScratchArray<T> sorted_distances;
    ScratchArray<LaneIndex> sorted_indices;
    std::vector<Candidate<T>> candidates;
    ScratchArray<std::int32_t> row_indices;
    ScratchArray<T> row_distances;
};

} // namespace kith::detail
