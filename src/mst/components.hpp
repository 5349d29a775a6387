// The groups that the first edges of a spanning tree make: edges longer than the linking length are left out. Source:
// halo-finding thesis, section 3.3.1. Cost: close to O(n), 8 bytes of working memory a point.
#pragma once

#include <kith/fof.hpp>
#include <kith/spanning_tree.hpp>

#include "groups/union_find.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

/// Joins the ends of every edge, in parallel. Runs inside a stage.
void join(Context& context, const UnionFind& groups, std::span<const SpanningEdge> edges);

/// Labels, groups and sizes as fof() numbers them. Runs inside a stage.
void label_components(Context& context, std::span<const SpanningEdge> edges, std::span<std::int32_t> labels,
                      FofSummary& result);

} // namespace kith::detail
