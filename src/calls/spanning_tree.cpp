// The public spanning tree: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/spanning_tree.hpp>

#include "calls/choose.hpp"
#include "calls/phase_space.hpp"
#include "calls/sources.hpp"
#include "engines/brute_force/spanning_tree.hpp"
#include "groups/checks.hpp"
#include "mst/boruvka.hpp"
#include "mst/edges.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

namespace kith {

namespace detail {

namespace {

template <Coordinate T>
void span_phase_space(Context& context, const PointsView& given, const SpanningTreeOptions& options,
                      SpanningTree& result) {
    PhaseSpacePoints<T> points;
    context.run([&] {
        const NormalizedPoints<T> positions = normalize_sources<T>(given, options.box);
        SpanningTreeAccess::describe(positions.frame, result);
        ResolvedLengths lengths;
        points = resolve_phase_space(positions, options.box, *options.phase_space, lengths);
        SpanningTreeAccess::describe_phase_space(points.positions.frame, lengths, result);
    });
    const EdgeMemory<T> edges = SpanningTreeAccess::memory<T>(result);
    if (result.engine() == Engine::tree) {
        span_tree(context, build_plane_tree(context, points), edges);
    } else {
        context.stage("connect", [&] { span_all_pairs(context, gather_points(context, points), edges); });
    }
    context.stage("edges", [&] { SpanningTreeAccess::finish(context, points.positions.frame, result); });
}

template <Coordinate T>
void span(Context& context, const PointsOrTree& given, const SpanningTreeOptions& options, SpanningTree& result) {
    if (options.phase_space) {
        span_phase_space<T>(context, given.points(), options, result);
        return;
    }
    WorkingPoints<T> points(context, given, options.box);
    SpanningTreeAccess::describe(points.frame(), result);
    const EdgeMemory<T> edges = SpanningTreeAccess::memory<T>(result);
    if (result.engine() == Engine::tree) {
        span_tree(context, points.tree(context), edges);
    } else {
        context.stage("connect", [&] { span_all_pairs(context, points.in_any_order(context), edges); });
    }
    context.stage("edges", [&] { SpanningTreeAccess::finish(context, points.frame(), result); });
    if (points.frame().has_tiny) {
        SpanningTreeAccess::count_unresolved(context, points.frame(), points.as_given(context), result);
    }
}

} // namespace

} // namespace detail

SpanningTree spanning_tree(const PointsOrTree& points, const SpanningTreeOptions& options) {
    const Device device = options.execution.device;
    const detail::Task task =
        options.phase_space ? detail::Task::spanning_tree_in_phase_space : detail::Task::spanning_tree;
    detail::check_engine(options.engine, task, device.kind);
    detail::check_points(points, options.box, options.execution);
    if (options.phase_space) {
        detail::check_length(options.phase_space->linking_length);
        detail::check_phase_space(options.phase_space->phase_space, points);
    }
    const Engine engine = detail::choose(
        task, options.engine, {points.count(), points.count(), false, 0, points.tree() != nullptr, device.kind});
    if (device.kind != DeviceKind::cpu) {
        return detail::spanning_tree_on_device(points, options, engine);
    }
    detail::Context context(options.execution);
    SpanningTree result = SpanningTreeAccess::make(points.count(), points.dtype(), engine);
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) { detail::span<T>(context, points, options, result); });
    result.stages = context.take_stages();
    return result;
}

} // namespace kith
