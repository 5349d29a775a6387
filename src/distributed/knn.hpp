// k nearest neighbors over ranks, as calls/ sees them: for rows (knn.cpp) and for a visitor (knn_visit.cpp). Both are
// compiled for every scalar type there.
#pragma once

#include <kith/distributed.hpp>
#include <kith/knn.hpp>

#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "neighbors/part_searcher.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

class Context;

/// The search of one rank. Arguments have been checked, and compared with those of the other ranks.
struct KnnOverRanks {
    const PointsView& points;
    const PointsView* queries; ///< null: a self-search
    std::int64_t k;
    const KnnOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. Fills the rows, 64-bit indices and distances of type T, neither of which is missing; the summary; and
/// the work of this rank's points if they were rebalanced (RankOptions). Points are searched by what on_gpu() makes, if
/// there is such a function, else by the context, and read by what points_on_gpu() makes; ranks may differ in that.
template <Coordinate T>
void knn_over_ranks(Ranks& ranks, Context& context, const KnnOverRanks& call, const MakePartSearcher<T>& on_gpu,
                    const MakePartPoints<T>& points_on_gpu, const NeighborRows& rows, SearchSummary& summary,
                    std::vector<float>& work);

/// Collective. Passes the rows to the visitor.
template <Coordinate T>
SearchSummary knn_visit_over_ranks(Ranks& ranks, Context& context, const KnnOverRanks& call,
                                   const NeighborVisitor& visitor);

} // namespace kith::detail
