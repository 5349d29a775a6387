// The single-linkage hierarchy of a spanning tree: its edges, in their order, join two clusters each.
//
// Kruskal's algorithm once more, by union-find (clusters.hpp), in one thread. Source: Gower, Ross (1969), Applied
// Statistics 18, 54; numbers of clusters as in SciPy's linkage matrix. Cost: close to O(n), 8 bytes of working memory a
// point.
#pragma once

#include <kith/hierarchy.hpp>

#include "support/context.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// A merge for each edge. Runs inside a stage.
std::vector<Merge> merges_of(Context& context, std::span<const SpanningEdge> edges, std::int64_t points);

} // namespace kith::detail
