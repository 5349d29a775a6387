// Neighbors within a radius over ranks, as calls/ sees them. radius.cpp compiles them for every scalar type.
#pragma once

#include <kith/distributed.hpp>
#include <kith/radius.hpp>

#include "distributed/ranks.hpp"
#include "neighbors/part_searcher.hpp"
#include "points/part_points.hpp"

#include <cstdint>

namespace kith::detail {

class Context;

/// The search of one rank. Arguments have been checked, and compared with those of the other ranks.
struct RadiusOverRanks {
    const PointsView& points;
    const PointsView* queries; ///< null: a self-search
    const Radii& radii;
    std::int64_t smallest_radius; ///< query of this rank with the smallest one above 0, or -1
    const RadiusOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. Rows with 64-bit indices. Points are searched by what on_gpu() makes, if there is such a function, else
/// by the CPU; ranks may differ in that.
template <Coordinate T>
RadiusResult radius_over_ranks(Ranks& ranks, Context& context, const RadiusOverRanks& call,
                               const MakePartSearcher<T>& on_gpu, const MakePartPoints<T>& points_on_gpu);

/// Collective. The lengths of these rows.
template <Coordinate T>
RadiusCounts radius_counts_over_ranks(Ranks& ranks, Context& context, const RadiusOverRanks& call,
                                      const MakePartSearcher<T>& on_gpu, const MakePartPoints<T>& points_on_gpu);

} // namespace kith::detail
