// Pair counts over ranks, as calls/ sees them. pair_counts.cpp compiles them for every scalar type.
#pragma once

#include <kith/distributed.hpp>
#include <kith/pair_counts.hpp>

#include "distributed/ranks.hpp"

#include <span>

namespace kith::detail {

class Context;

/// The call of one rank. Arguments have been checked, and compared with those of the other ranks.
struct PairsOverRanks {
    const PointsView& points;
    const PointsView* other; ///< null: pairs of the points themselves
    std::span<const double> edges;
    const PairCountOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. The counts of all ranks, on each.
template <Coordinate T>
PairCounts pair_counts_over_ranks(Ranks& ranks, Context& context, const PairsOverRanks& call);

} // namespace kith::detail
