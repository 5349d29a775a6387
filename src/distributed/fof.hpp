// Friends-of-friends over ranks, as calls/ sees it. fof.cpp compiles it for every scalar type.
#pragma once

#include <kith/distributed.hpp>

#include "distributed/ranks.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

class Context;

/// The points of one rank. Arguments have been checked, and compared with those of the other ranks.
struct FofOverRanks {
    const PointsView& points;
    const LinkingLength& length;
    const FofOptions& options;
    const RankOptions& of_ranks;
};

/// What ranks find that FofSummary does not hold.
struct GroupsOverRanks {
    std::vector<std::int64_t> labels; ///< of this rank's points
    std::vector<GroupsOfSize> sizes;  ///< of the groups of all ranks, by decreasing size
    std::vector<float> work;          ///< of this rank's points, if they were rebalanced (RankOptions)
};

/// Collective. Fills the summary, without its sizes.
template <Coordinate T>
GroupsOverRanks fof_over_ranks(Ranks& ranks, Context& context, const FofOverRanks& call, FofSummary& summary);

/// The groups of one process as ranks find them.
GroupsOverRanks as_over_ranks(Context& context, std::span<const std::int32_t> labels, const GroupSizes& sizes);

} // namespace kith::detail
