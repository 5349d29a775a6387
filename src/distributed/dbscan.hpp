// DBSCAN over ranks, as calls/ sees it.
#pragma once

#include <kith/dbscan.hpp>
#include <kith/distributed.hpp>

#include "distributed/ranks.hpp"
#include "groups/part_clusters.hpp"
#include "points/part_points.hpp"

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

/// Collective. Fills a result with the clusters of all ranks and 64-bit labels of this rank's points, which are
/// searched by what on_gpu() makes, if there is such a function, else by the CPU.
template <Coordinate T>
void dbscan_over_ranks(Ranks& ranks, Context& context, const DbscanOverRanks& call, const MakePartClusters<T>& on_gpu,
                       const MakePartPoints<T>& points_on_gpu, DbscanResult& result);

} // namespace kith::detail
