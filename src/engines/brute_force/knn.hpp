// k nearest neighbors by comparing all with all, from points in any order to rows in a sink.
#pragma once

#include "engines/brute_force/search.hpp"
#include "support/context.hpp"

namespace kith::detail {

/// The rows of all receivers. No sources give rows in which every neighbor is missing.
template <Coordinate T>
void search_all_pairs(Context& context, const PointSet<T>& receivers, const PointSet<T>& sources,
                      const KnnRequest<T>& request, RowSink<T>& sink) {
    context.expect(receivers.count);
    const BruteForceJob<T> job{&receivers, &sources, &request, &sink};
    for_blocks<CandidateScratch<T>>(context, receivers.count, queries_per_block,
                                    [&](std::int64_t begin, std::int64_t end, CandidateScratch<T>& scratch) {
                                        search_block(job, begin, end, scratch);
                                    });
}

} // namespace kith::detail
