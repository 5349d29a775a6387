// Pair counts in plane trees, from finished trees to sums by slot.
//
// Tasks are the nodes of one plane of the first tree. Each thread counts in memory of its own; the sums are of whole
// numbers, so that they depend on neither threads nor tasks.
#pragma once

#include "pairs/pair_job.hpp"
#include "pairs/pair_sums.hpp"
#include "support/context.hpp"
#include "support/per_thread.hpp"
#include "walk/tasks.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kith::detail {

/// Both trees have points.
template <Coordinate T>
PairSums count_pairs(Context& context, PairJob<T> job) {
    constexpr int finer = 4; // tasks differ more than those of a search: pairs grow with the square of the density
    if (!job.within && job.second.tree->top > job.first.tree->top) {
        std::swap(job.first, job.second); // so that the other one has the plane of the tasks
    }
    const TreeView<T>& tree = *job.first.tree;
    const int plane = std::min(plane_of_tasks(tree, finer * context.threads()), job.second.tree->top);
    const auto slots = static_cast<std::size_t>(job.limits.slots());
    PerThread<PairScratch<T>> scratch([&] {
        auto made = std::make_unique<PairScratch<T>>();
        made->counts.assign(slots, 0);
        made->weights.assign(job.weighted ? slots : 0, 0);
        made->separation_sums.assign(job.limits.separation_scale ? slots : 0, {});
        return made;
    });
    context.expect(tree.points.count);
    for_each_task(context, tree.planes[plane],
                  [&](std::int64_t node) { count_pairs_of_node(job, plane, node, scratch.local()); });
    PairSums sums(job.limits, job.weighted);
    for (const PairScratch<T>& counted : scratch.values()) {
        sums.add(counted.counts, counted.weights, counted.separation_sums);
    }
    return sums;
}

} // namespace kith::detail
