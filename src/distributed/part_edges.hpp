// The edges of one rank's part of the spanning tree over ranks: from what the rank and its rounds have found to the
// result.
//
// Edges that rounds have joined are sorted, and merged with those of the rank's own tree, which ascend. Cost: O(n) in
// parallel, and O(m log m) for m edges that are not of the own tree.
#pragma once

#include <kith/spanning_tree.hpp>

#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

template <Coordinate T>
class PartEdges {
public:
    /// Of all edges of the tree whose larger ends are points of this rank.
    PartEdges(Ranks& ranks, Context& context, const SharedPoints<T>& shared, FoundEdges<T> found)
        : ranks_(ranks), context_(context), shared_(shared), found_(std::move(found)) {}

    /// Collective. Brings them into the result.
    void finish(SpanningTree& result);
    /// Collective, after that. Of all ranks' edges; points of other ranks are fetched as given.
    void count_unresolved(SpanningTree& result);

private:
    void merge(const Buffer<RankEdge<T>>& others, SpanningTree& result) const;

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    FoundEdges<T> found_;
    std::vector<RankEdge<T>> remote_; ///< edges of this rank to points of others
};

} // namespace kith::detail
