// The minimum spanning tree of mutual reachability distances over ranks, for HDBSCAN* (hdbscan.hpp).
//
// Each rank finds the tree of its own points, whose edges alone can be edges of the whole tree between them (the cycle
// property), and joins what no edge to another rank can come before (contraction.hpp). Then rounds: points that may
// have an edge before the least known one out of their component ask the ranks near them. Those answer with the point
// of another component that is nearest by mutual reachability distance (reachability_search.hpp), and rank 0, which has
// all open edges, joins components and sends their new names. Of the points of a component those with the least bounds
// ask first, 2 in the first round, 16 in the second: so there are O(log n) rounds. Sources: Boruvka (1926); Campello,
// Moulavi and Sander, PAKDD 2013.
//
// Edges are compared as (mutual reachability distance, length, smaller, larger number). Many weigh exactly a core
// distance, so a bound on edges is one in this order: the bound b of a point's squared distance to other ranks bounds
// its edges to them by (max(core distance, b), b). Traffic: d + 4 numbers for each point that asks a rank in a round.
#pragma once

#include "distributed/ranks.hpp"
#include "distributed/reachability_edges.hpp"
#include "support/context.hpp"

#include <vector>

namespace kith::detail {

/// Collective. The edges of the tree that this rank has found, in any order: each is on one rank.
template <Coordinate T>
std::vector<ReachabilityEdge<T>> reachability_tree_over_ranks(Ranks& ranks, Context& context,
                                                              const ReachablePoints<T>& points);

} // namespace kith::detail
