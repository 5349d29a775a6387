// Sums over neighbors over ranks, as calls/ sees them. sum_neighbors.cpp compiles them for every scalar type.
#pragma once

#include <kith/distributed.hpp>
#include <kith/sum_neighbors.hpp>

#include "distributed/ranks.hpp"

#include <cstdint>

namespace kith::detail {

class Context;

/// The sums of one rank. Arguments have been checked, and compared with those of the other ranks.
struct SumsOverRanks {
    const PointsView& points;
    const PointsView* queries; ///< null: a self-search
    const Neighborhood& neighborhood;
    std::int64_t smallest_radius; ///< query of this rank with the smallest one above 0, or -1
    const SumOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. Fills the memory of the sums, and their summary.
template <Coordinate T>
void sum_over_ranks(Ranks& ranks, Context& context, const SumsOverRanks& call, NeighborSums& sums);

} // namespace kith::detail
