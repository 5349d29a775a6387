// The edges of a spanning tree over ranks, by any metric (tree_metric.hpp).
//
// Each rank finds the tree of its own points, whose edges alone can be edges of the whole tree between them (the cycle
// property). It joins all components whose least edge is less than any to another rank (contraction.hpp): what is left
// has at least one point each near another rank. Then rounds: each rank finds edges out of its components to points of
// other ranks (outgoing_edges.hpp), and rank 0, which has all open edges, joins components by the same rule and sends
// their new names. A round finds the least edge of each component, but of those that wait for a smaller one
// (open_forest.hpp) and those with too many requests, which become eight times as many from round to round: so there
// are few rounds. Sources: Boruvka (1926); in mutual reachability distances, Campello, Moulavi and Sander, PAKDD 2013.
// Traffic is proportional to the surface between ranks, as is the memory that rank 0 needs for the open edges of all of
// them.
//
// Of points that coincide on a rank, only the first, by number, takes part. Each of the others is joined, at a square
// of zero, to the point of the smallest number that the first one has at such a square: their least edges, in which
// nothing else can come before (docs/semantics.md, "Minimum spanning tree"). Core distances of such points are equal,
// so this holds for mutual reachability distances, too.
#pragma once

#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/tree_metric.hpp"
#include "support/context.hpp"

namespace kith::detail {

/// Collective. The edges whose larger ends are points of this rank. The metric is of this rank's points.
template <class Metric>
FoundEdges<typename Metric::Length> tree_edges_over_ranks(Ranks& ranks, Context& context,
                                                          const SharedPoints<typename Metric::Scalar>& shared,
                                                          const Metric& metric);

} // namespace kith::detail
