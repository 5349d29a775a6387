// The brute-force engine: every query against every source, in tiles, a vector at a time.
//
// The tree's equal on small inputs and in high dimensions, and the check on it everywhere. Cost: O(N) per query; 2 ns
// per 16 pairs or so, no index to build. Tiled as in the halo-finding thesis, section 3.4.1.
#pragma once

#include "engines/candidates.hpp"
#include "points/point_set.hpp"

#include <cstdint>

namespace kith::detail {

/// Queries that share one pass over a tile of sources.
inline constexpr std::int64_t queries_per_block = 16;

template <Coordinate T>
struct BruteForceJob {
    const PointSet<T>* receivers;
    const PointSet<T>* sources;
    const KnnRequest<T>* request;
    RowSink<T>* sink;
};

/// Finds the neighbors of the queries [begin, end), at most queries_per_block of them.
void search_block(const BruteForceJob<float>& job, std::int64_t begin, std::int64_t end,
                  CandidateScratch<float>& scratch);
void search_block(const BruteForceJob<double>& job, std::int64_t begin, std::int64_t end,
                  CandidateScratch<double>& scratch);

} // namespace kith::detail
