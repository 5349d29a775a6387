// The public spanning tree: a call is normalized, checked once, and dispatched once.
#include <kith/spanning_tree.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/rank_calls.hpp"
#include "calls/sources.hpp"
#include "engines/brute_force/spanning_tree.hpp"
#include "mst/boruvka.hpp"
#include "mst/edges.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

namespace kith {

namespace detail {

namespace {

template <Coordinate T>
void span(Context& context, const SpanningTreeCall& call, SpanningTree& result) {
    const auto& phase_space = call.options.phase_space;
    WorkingPoints<T> points(context, call.points, call.options.box);
    SpanningTreeAccess::describe(points.frame(), result);
    if (phase_space) {
        ResolvedLengths lengths;
        points.enter_phase_space(context, *phase_space, lengths);
        SpanningTreeAccess::describe_phase_space(points.frame(), lengths, result);
    }
    const EdgeMemory<T> edges = SpanningTreeAccess::memory<T>(result);
    if (const PlaneTree<T>* const planes = points.planes(context, result.engine())) {
        span_tree(context, *planes, edges);
    } else {
        context.stage("connect", [&] { span_all_pairs(context, points.in_any_order(context), edges); });
    }
    context.stage("edges", [&] { SpanningTreeAccess::finish(context, points.frame(), result); });
    if (!phase_space && points.frame().has_tiny) {
        SpanningTreeAccess::count_unresolved(context, points.frame(), points.as_given(context), result);
    }
}

} // namespace

} // namespace detail

SpanningTree spanning_tree(const PointsOrTree& points, const SpanningTreeOptions& options) {
    const detail::SpanningTreeCall call{points, options};
    const detail::Where where = detail::where_of(options.execution);
    if (detail::is_over_ranks(where)) {
        return detail::spanning_tree_over_team(call);
    }
    detail::check(call, where);
    const Engine engine = detail::choose(call.task(), options.engine, detail::size_of(points, nullptr, 0, where));
    if (where == detail::Where::gpu) {
        return detail::on_gpu().spanning_tree(points, options, engine);
    }
    detail::Context context(options.execution);
    SpanningTree result = SpanningTreeAccess::make(points.count(), points.dtype(), engine);
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) { detail::span<T>(context, call, result); });
    result.stages = context.take_stages();
    return result;
}

} // namespace kith
