// DBSCAN over ranks, as calls/ sees it.
#pragma once

#include <kith/dbscan.hpp>
#include <kith/distributed.hpp>

#include "distributed/ranks.hpp"

#include <cstdint>

namespace kith::detail {

class Context;

/// The points of one rank. Arguments have been checked.
struct DbscanOverRanks {
    const PointsView& points;
    double eps;
    std::int64_t min_samples;
    const DbscanOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. The clusters of all ranks with 64-bit labels of this rank's points. Refuses arguments that differ.
DbscanResult dbscan_over_ranks(Ranks& ranks, Context& context, const DbscanOverRanks& call);

} // namespace kith::detail
