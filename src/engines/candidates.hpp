// What the engines that search each query by itself share: its candidates, and blocks of queries.
#pragma once

#include "neighbors/search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "support/scratch_array.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Candidates of one query or several, which are cut down to the nearest whenever there are a good deal more. Memory of
/// one thread, kept from task to task.
template <Coordinate T>
struct CandidateScratch {
    using LaneIndex = typename SearchScratch<T>::LaneIndex;

    ScratchArray<T> distances;
    ScratchArray<LaneIndex> indices;
    ScratchArray<T> sorted_distances; ///< of one query
    ScratchArray<LaneIndex> sorted_indices;
    std::vector<Candidate<T>> candidates;
    ScratchArray<std::int32_t> row_indices; ///< of a block, for sinks without memory of their own
    ScratchArray<T> row_distances;

    void reserve(std::int64_t queries, std::int64_t of_each) {
        distances.reserve(queries * of_each);
        indices.reserve(queries * of_each);
        sorted_distances.reserve(of_each);
        sorted_indices.reserve(of_each);
    }
    void reserve_rows(std::int64_t size) {
        row_indices.reserve(size);
        row_distances.reserve(size);
    }
};

/// body(begin, end, scratch) for blocks of so many receivers, each of which is work for one thread.
template <class Scratch, class Body>
void for_blocks(Context& context, std::int64_t count, std::int64_t block_size, const Body& body) {
    PerThread<Scratch> scratch;
    parallel_blocks(count, block_size, [&](std::int64_t /*block*/, std::int64_t begin, std::int64_t end) {
        body(begin, end, scratch.local());
        context.done(end - begin);
    });
}

} // namespace kith::detail
