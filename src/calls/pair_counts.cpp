// The public pair counts: a call is normalized, checked once, and dispatched once.
#include <kith/pair_counts.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/rank_calls.hpp"
#include "calls/second_set.hpp"
#include "calls/sources.hpp"
#include "pairs/count_pairs.hpp"
#include "pairs/edges.hpp"
#include "pairs/pair_sums.hpp"
#include "pairs/pair_weights.hpp"
#include "points/frame.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kith {

namespace detail {

namespace {

/// The call has been checked.
template <Coordinate T>
void count(Context& context, const PairCall& call, PairCounts& result) {
    const PairCountOptions& options = call.options;
    WorkingPoints<T> points(context, call.points, options.box);
    const Frame<T>& frame = points.frame();
    std::optional<NormalizedPoints<T>> others;
    if (call.other != nullptr) {
        context.run([&] { others = normalize_queries(*call.other, frame); });
    }
    const bool has_pairs = call.points.count() > 0 && (call.other == nullptr || call.other->count() > 0);
    if (has_pairs && (call.other != nullptr || frame.largest > 0)) {
        require_resolved_edges(call.edges, options, frame, [&] { return points.largest(context); });
    }
    PairJob<T> job;
    job.within = call.other == nullptr;
    job.weighted = options.weights || options.other_weights;
    job.dimension = frame.dimension;
    job.periodic = frame.periodic;
    job.limits = pair_limits(call.edges, options, frame);
    describe(frame, call.edges, options, result);

    PairSums sums(job.limits, job.weighted);
    int exponent = 0;
    if (has_pairs) {
        const PlaneTree<T>& tree = *points.planes(context, result.engine);
        const std::optional<PlaneTree<T>> other_tree =
            others ? std::optional(build_plane_tree<T>(context, *others, TreeShape{})) : std::nullopt;
        const TreeView<T> view = tree.view();
        const TreeView<T> other_view = other_tree ? other_tree->view() : view;
        job.first.tree = &view;
        job.second.tree = job.within ? &view : &other_view;
        PairWeights weights;
        PairWeights other_weights;
        context.stage("count", [&] {
            const auto enter_weights = [&](const std::optional<std::span<const double>>& given, PairWeights& to,
                                           WeightedTree<T>& tree_of_set) {
                if (given) {
                    const WeightUnit unit(*given);
                    to = PairWeights(context, *given, unit, *tree_of_set.tree);
                    to.enter(tree_of_set);
                    exponent += job.within ? 2 * unit.exponent() : unit.exponent();
                }
            };
            enter_weights(options.weights, weights, job.first);
            enter_weights(options.other_weights, other_weights, job.second);
            if (job.within) {
                job.second = job.first;
            }
            sums = count_pairs(context, job);
        });
        result.vanished_weights = weights.vanished() + other_weights.vanished();
    }
    enter(sums, exponent, result);
}

PairCounts run(const PairCall& call) {
    const Where where = where_of(call.options.execution);
    if (is_over_ranks(where)) {
        return pair_counts_over_team(call);
    }
    check(call, where);
    PairCounts result;
    result.engine = choose(Task::pair_counts, call.options.engine, size_of(call.points, nullptr, 0, where));
    if (where == Where::gpu) {
        on_gpu().pair_counts(call.points, call.other, call.edges, call.options, result);
        return result;
    }
    Context context(call.options.execution);
    with_allocation_errors("the counts of pairs", [&] {
        with_dtype(call.points.dtype(), [&]<Coordinate T>(T) { count<T>(context, call, result); });
    });
    result.stages = context.take_stages();
    return result;
}

} // namespace

} // namespace detail

PairCounts pair_counts(const PointsOrTree& points, std::span<const double> edges, const PairCountOptions& options) {
    return detail::run({points, nullptr, edges, options});
}

PairCounts pair_counts(const PointsOrTree& points, const PointsView& other, std::span<const double> edges,
                       const PairCountOptions& options) {
    return detail::naming_second_set("other", [&] { return detail::run({points, &other, edges, options}); });
}

} // namespace kith
