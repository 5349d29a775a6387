// The edges of a spanning tree over ranks in their order, cut into consecutive parts of about equal length.
//
// Edges are compared by squared length, then by the places of their ends: the global index of a point, or how many of
// all ranks' ids are smaller than its own. That order, as one number, is cut where each rank gets its share
// (key_cuts.hpp); numbers of 128 bits lack the last bits of the larger end in a float64 tree of 2^32 points and more,
// so that such edges, if all else is equal, stay on one rank. Cost: O(n log n); each edge is sent once, in 16 bytes and
// three numbers of its type, and 16 more bytes with ids.
#pragma once

#include <kith/hierarchy.hpp>

#include "distributed/ranks.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

struct EdgesInOrder {
    SpanningTree tree;                       ///< consecutive edges, with ids if the points have them
    std::vector<SpanningEdge64> with_places; ///< the same by the places of their ends; empty without ids

    [[nodiscard]] std::span<const SpanningEdge64> places() const {
        return with_places.empty() ? tree.edges64() : std::span<const SpanningEdge64>(with_places);
    }
};

/// Collective. The ids are those of this rank's points, or empty.
EdgesInOrder edges_in_order_over_ranks(Ranks& ranks, Context& context, const SpanningTree& tree,
                                       const IntegersView& ids);

/// Collective. The merges of all ranks' edges, which are in order, by the places of their ends; those of this rank's.
/// `points` are those of all ranks. Rank 0 makes them.
std::vector<Merge64> merges_over_ranks(Ranks& ranks, Context& context, std::span<const SpanningEdge64> places,
                                       std::int64_t points);

} // namespace kith::detail
