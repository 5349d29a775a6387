// HDBSCAN* over ranks, as calls/ sees it. hdbscan.cpp compiles it for every scalar type.
#pragma once

#include <kith/distributed.hpp>
#include <kith/hdbscan.hpp>

#include "distributed/ranks.hpp"

#include <cstdint>

namespace kith::detail {

class Context;

/// The points of one rank. Arguments have been checked, and compared with those of the other ranks.
struct HdbscanOverRanks {
    const PointsView& points;
    std::int64_t min_cluster_size;
    const HdbscanOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. The clusters of all ranks, with labels and scores of this rank's points.
template <Coordinate T>
HdbscanResult hdbscan_over_ranks(Ranks& ranks, Context& context, const HdbscanOverRanks& call);

} // namespace kith::detail
