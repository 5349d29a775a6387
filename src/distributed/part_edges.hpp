// The edges of one rank's part of the spanning tree over ranks: from what the rank and its rounds have found to the
// result.
//
// Edges that rounds have joined are brought to the ranks of their larger ends, sorted, and merged with those of the
// rank's own tree, which ascend. Of points that coincide on a rank only the first took part (spanning_tree.cpp); the
// others get their edges here. Cost: O(n) in parallel, and O(m log m) for m edges that are not of the own tree.
#pragma once

#include <kith/spanning_tree.hpp>

#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "mst/ordered_edge.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// An edge between rows of this rank, which are in the order of numbers.
template <Coordinate T>
using RowEdge = OrderedEdge<T>;

template <Coordinate T>
class PartEdges {
public:
    PartEdges(Ranks& ranks, Context& context, const SharedPoints<T>& shared)
        : ranks_(ranks), context_(context), shared_(shared) {}

    std::vector<std::pair<std::int32_t, std::int32_t>> coincident; ///< rows: the first, and one that was left out
    Buffer<RowEdge<T>> own;                                        ///< of the rank's own points, ascending
    std::int64_t joined_own = 0;                                   ///< those at the front of `own` are of the tree
    std::vector<RankEdge<T>> joined;                               ///< of the tree: found in rounds on this rank

    /// Collective. All edges of the tree have been found.
    void finish(SpanningTree& result);
    /// Collective, after that. Of all ranks' edges; points of other ranks are fetched as given.
    void count_unresolved(SpanningTree& result);

private:
    void deliver_joined();
    void join_coincident();
    void merge(const Buffer<RankEdge<T>>& others, SpanningTree& result) const;

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    std::vector<RankEdge<T>> remote_; ///< edges of this rank to points of others
};

} // namespace kith::detail
