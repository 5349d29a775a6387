// The z-order of all ranks' points, a part of it on each rank.
//
// A key holds as many bits of the curve as 126 bits have for all axes, within the cell that holds all points. The keys
// are cut into parts (key_cuts.hpp), points move to the ranks of their parts, and each rank sorts its own as one
// process would. Points of equal keys are in one part, so the parts need no order among each other. Source: jz-tree
// paper, section III-C, which cuts by a sample.
#pragma once

#include <kith/distributed.hpp>
#include <kith/z_order.hpp>

#include "distributed/ranks.hpp"

namespace kith::detail {

class Context;

/// The points of one rank. Arguments have been checked, and compared with those of the other ranks.
struct ZOrderOverRanks {
    const PointsView& points;
    const ZOrderOptions& options;
    const RankOptions& of_ranks;
};

/// Collective.
template <Coordinate T>
ZOrder z_order_over_ranks(Ranks& ranks, Context& context, const ZOrderOverRanks& call);

} // namespace kith::detail
