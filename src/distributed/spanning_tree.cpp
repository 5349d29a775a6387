// The minimum spanning tree over ranks: its edges are those of the rounds (tree_rounds.hpp), by squared distance.
//
// Rebalanced points make the tree on the ranks that they move to, and edges return to the ranks that passed the points.
#include "distributed/spanning_tree.hpp"

#include "distributed/given_ids.hpp"
#include "distributed/linking_length.hpp"
#include "distributed/part_edges.hpp"
#include "distributed/phase_space.hpp"
#include "distributed/returned_edges.hpp"
#include "distributed/tree_rounds.hpp"

namespace kith::detail {

namespace {

template <Coordinate T>
void find_edges(Ranks& ranks, Context& context, const SharedPoints<T>& shared, SpanningTree& result,
                bool counts_unresolved) {
    PartEdges<T> edges(ranks, context, shared, tree_edges_over_ranks(ranks, context, shared, PlainDistance<T>()));
    edges.finish(result);
    if (counts_unresolved && shared.points.frame.has_tiny) {
        edges.count_unresolved(result);
    }
}

} // namespace

template <Coordinate T>
SpanningTree spanning_tree_over_ranks(Ranks& ranks, Context& context, const SpanningTreeOverRanks& call) {
    const SpanningTreeOptions& options = call.options;
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, options.box);
    ids.number(shared);
    SpanningTree result = SpanningTreeAccess::part_of(shared.ownership.total(), dtype_of<T>);
    SpanningTreeAccess::describe(shared.points.frame, result);
    SharedPoints<T> in_phase_space;
    if (options.phase_space) {
        ResolvedLengths lengths;
        resolve_length(ranks, shared, options.phase_space->linking_length, lengths);
        in_phase_space =
            share_phase_space(ranks, context, shared, options.box, options.phase_space->phase_space, lengths);
        SpanningTreeAccess::describe_phase_space(in_phase_space.points.frame, lengths, result);
    }
    SharedPoints<T>& spanned = options.phase_space ? in_phase_space : shared;
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        Rebalanced<T> here(ranks, context, spanned, ids.given(), call.of_ranks);
        ranks.agreed([&] { here.ids->sort(here.points); });
        find_edges(ranks, context, here.points, result, !options.phase_space);
        result.stages = context.take_stages();
        result.distribution.emplace().work = here.moved.work(seconds_of(result.stages));
        return_edges(ranks, context, here, spanned.given.count(), ids.are_given(), result);
        return result;
    }
    ranks.agreed([&] { ids.sort(spanned); });
    find_edges(ranks, context, spanned, result, !options.phase_space);
    result.stages = context.take_stages();
    return result;
}

template SpanningTree spanning_tree_over_ranks<float>(Ranks&, Context&, const SpanningTreeOverRanks&);
template SpanningTree spanning_tree_over_ranks<double>(Ranks&, Context&, const SpanningTreeOverRanks&);

} // namespace kith::detail
