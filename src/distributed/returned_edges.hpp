// The edges of a spanning tree of rebalanced points, returned to the ranks that passed the points.
//
// An edge goes to the rank that passed its larger end, with the rank that passed its smaller one: cuts need both. Where
// the smaller end has moved to another rank than the larger one, that rank is asked who passed it. Cost: each edge is
// sent once, in 40 bytes, or 56 of float64; O(n log n) for their order there.
#pragma once

#include <kith/spanning_tree.hpp>

#include "distributed/rebalance.hpp"
#include "support/context.hpp"

#include <cstdint>

namespace kith::detail {

/// Collective. Replaces the edges of the result, those of the points here, by those of the `count` points that this
/// rank passed; their numbers stay.
template <Coordinate T>
void return_edges(Ranks& ranks, Context& context, const Rebalanced<T>& here, std::int64_t count, bool has_ids,
                  SpanningTree& result);

} // namespace kith::detail
