// The public spanning tree: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/spanning_tree.hpp>

#include "calls/choose.hpp"
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
void span(Context& context, const PointsOrTree& given, const SpanningTreeOptions& options, SpanningTree& result) {
    WorkingPoints<T> points(context, given, options.box);
    const EdgeMemory<T> edges = SpanningTreeAccess::memory<T>(result);
    if (result.engine() == Engine::tree) {
        span_tree(context, points.tree(context), edges);
    } else {
        context.stage("connect", [&] { span_all_pairs(context, points.in_any_order(context), edges); });
    }
    context.stage("edges", [&] { SpanningTreeAccess::finish(context, points.frame(), result); });
}

} // namespace

} // namespace detail

SpanningTree spanning_tree(const PointsOrTree& points, const SpanningTreeOptions& options) {
    if (detail::is_on_gpu(options.execution)) {
        throw Error(ErrorKind::unsupported, "the spanning tree is found on the CPU only; use kith::cpu()");
    }
    detail::check_points(points, options.box, options.execution);
    detail::Context context(options.execution);
    const Engine engine =
        detail::choose(detail::Task::spanning_tree, options.engine,
                       {points.count(), points.count(), false, points.dimension(), points.tree() != nullptr});
    SpanningTree result = SpanningTreeAccess::make(points.count(), points.dtype(), engine);
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) { detail::span<T>(context, points, options, result); });
    result.stages = context.take_stages();
    return result;
}

} // namespace kith
