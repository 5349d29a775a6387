// The minimum spanning tree over ranks, as calls/ sees it. spanning_tree.cpp compiles it for every scalar type.
#pragma once

#include <kith/distributed.hpp>
#include <kith/spanning_tree.hpp>

#include "distributed/ranks.hpp"

namespace kith::detail {

class Context;

/// The points of one rank. Arguments have been checked, and compared with those of the other ranks.
struct SpanningTreeOverRanks {
    const PointsView& points;
    const SpanningTreeOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. The edges whose larger ends are points of this rank. The result has no distribution yet.
template <Coordinate T>
SpanningTree spanning_tree_over_ranks(Ranks& ranks, Context& context, const SpanningTreeOverRanks& call);

} // namespace kith::detail
