// k nearest neighbors by comparing all with all, from points in any order to rows in a sink.
#pragma once

#include "engines/brute_force/search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

/// The rows of all receivers. No sources give rows in which every neighbor is missing.
template <Coordinate T>
void search_all_pairs(Context& context, const PointSet<T>& receivers, const PointSet<T>& sources,
                      const KnnRequest<T>& request, RowSink<T>& sink) {
    context.expect(receivers.count);
    const BruteForceJob<T> job{&receivers, &sources, &request, &sink};
    PerThread<BruteForceScratch<T>> scratch;
    const std::int64_t blocks = (receivers.count + queries_per_block - 1) / queries_per_block;
    parallel_for(0, blocks, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t block = first; block < last; ++block) {
            const std::int64_t begin = block * queries_per_block;
            const std::int64_t end = std::min(receivers.count, begin + queries_per_block);
            search_block(job, begin, end, scratch.local());
            context.done(end - begin);
        }
    });
}

} // namespace kith::detail
