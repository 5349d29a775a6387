// Friends-of-friends over ranks, as calls/ sees it. fof.cpp compiles it for every scalar type.
#pragma once

#include <kith/distributed.hpp>
#include <kith/fof.hpp>

#include "distributed/ranks.hpp"
#include "groups/part_linker.hpp"
#include "points/part_points.hpp"

#include <cstdint>
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

/// Collective. Fills the result with 64-bit labels of this rank's points, and the work of these points if they were
/// rebalanced (RankOptions). Points are linked by what on_gpu() makes, if there is such a function, else by the
/// context; ranks may differ in that.
template <Coordinate T>
void fof_over_ranks(Ranks& ranks, Context& context, const FofOverRanks& call, const MakePartLinker<T>& on_gpu,
                    const MakePartPoints<T>& points_on_gpu, FofResult& result, std::vector<float>& work);

/// Makes 32-bit labels or indices 64 bits wide.
void widen(const Execution& execution, IndexArray& numbers);

/// The groups or clusters of one process with 64-bit labels.
template <class Result>
Result widened(Result result, const Execution& execution) {
    widen(execution, result.label_array);
    return result;
}

} // namespace kith::detail
