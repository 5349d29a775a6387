// The groups that the first edges of a spanning tree make: edges longer than the linking length are left out. Source:
// halo-finding thesis, section 3.3.1. Cost: close to O(n), 8 bytes of working memory a point.
#pragma once

#include <kith/fof.hpp>
#include <kith/spanning_tree.hpp>

#include "groups/union_find.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "support/prefix_sums.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

/// Joins the ends of every edge, in parallel. Runs inside a stage.
void join(Context& context, const UnionFind& groups, std::span<const SpanningEdge> edges);

/// Labels, groups and sizes as fof() numbers them. Runs inside a stage.
void label_components(Context& context, std::span<const SpanningEdge> edges, std::span<std::int32_t> labels,
                      FofSummary& result);

/// Labels of DBSCAN*, from the edges that connect core points: those of the points with is_core(), by their smallest
/// index. Runs inside a stage.
template <class IsCore>
void label_core_points(Context& context, std::span<const SpanningEdge> edges, const IsCore& is_core,
                       std::span<std::int32_t> labels) {
    constexpr std::int64_t grain = 1 << 14;
    const auto count = std::ssize(labels);
    Buffer<std::int32_t> parents(context.memory_tracker(), count);
    Buffer<std::int32_t> numbers(context.memory_tracker(), count);
    const UnionFind groups(parents.data());
    parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
        groups.separate(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
    });
    context.expect(std::ssize(edges));
    join(context, groups, edges);
    prefix_sums<std::int32_t>( // roots are the smallest indices
        count, [&](std::int64_t i) { return parents[i] == i && is_core(i) ? 1 : 0; },
        [&](std::int64_t i, std::int32_t before) { numbers[i] = before; });
    parallel_each(count, grain, [&](std::int64_t i) {
        groups.shorten(static_cast<std::int32_t>(i));
        labels[i] = is_core(i) ? numbers[parents[i]] : -1;
    });
}

} // namespace kith::detail
