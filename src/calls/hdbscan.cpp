// The public HDBSCAN* calls: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/hdbscan.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/rank_calls.hpp"
#include "calls/second_set.hpp"
#include "calls/sources.hpp"
#include "calls/zeros.hpp"
#include "engines/brute_force/spanning_tree.hpp"
#include "groups/resolve_eps.hpp"
#include "mst/cluster_selection.hpp"
#include "mst/components.hpp"
#include "mst/prediction.hpp"
#include "mst/reachability.hpp"
#include "mst/weighed_tree.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/one_process.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace kith {

namespace detail {

namespace {

/// Too few points for any to be a core point: all weights are infinite, and lengths alone order the edges.
template <Coordinate T>
void span_without_core(Context& context, WorkingPoints<T>& points, Engine engine, const WeighedEdges<T>& to) {
    Buffer<SpanningEdge> ends(context.memory_tracker(), to.count);
    Buffer<T> squared(context.memory_tracker(), to.count);
    const EdgeMemory<T> edges{ends.data(), squared.data(), to.spare, to.count};
    if (const PlaneTree<T>* const planes = points.planes(context, engine)) {
        span_tree(context, *planes, edges);
    } else {
        context.stage("connect", [&] { span_all_pairs(context, points.in_any_order(context), edges); });
    }
    set_without_core(edges, to);
}

template <Coordinate T>
void span(Context& context, WorkingPoints<T>& points, std::int64_t count, std::int64_t min_samples, Engine engine,
          const WeighedEdges<T>& edges) {
    if (count < min_samples) {
        span_without_core(context, points, engine, edges);
    } else if (const PlaneTree<T>* const planes = points.planes(context, engine)) {
        span_by_reachability(context, *planes, min_samples, edges);
    } else {
        const PointSet<T>* gathered = nullptr;
        context.stage("gather", [&] { gathered = &points.in_any_order(context); });
        span_all_pairs(context, *gathered, min_samples, edges);
    }
}

template <Coordinate T>
void span_into(Context& context, const HdbscanCall& call, HdbscanResult& result) {
    WorkingPoints<T> points(context, call.points, call.options.box);
    const std::int64_t count = call.points.count();
    describe(points.frame(), count, result);
    if (count == 0) {
        return;
    }
    WeighedTree<T> tree(context, count);
    span(context, points, count, result.min_samples, result.engine, tree.memory());
    context.stage("edges", [&] { finish_tree(context, points.frame(), tree, result); });
    if (points.frame().has_tiny) {
        count_unresolved(context, points.frame(), points.as_given(context), result);
    }
}

/// Refuses a part of the answer over ranks.
void require_whole(const HdbscanResult& clusters) {
    if (clusters.has_ids || (clusters.distribution && clusters.distribution->ranks > 1)) {
        throw error(ErrorKind::unsupported, "these are the clusters of ",
                    clusters.has_ids ? "points with ids" : "one rank's points",
                    ", but the call needs those of all points of one process, without ids; find these, or the clusters "
                    "of DBSCAN* with dbscan() over ranks");
    }
}

void check_prediction(const HdbscanResult& clusters, const PointsOrTree& points, const PointsView& new_points,
                      const Execution& execution) {
    require_one_process(execution);
    require_whole(clusters);
    if (execution.device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported,
                    "clusters are predicted on the CPU only; leave kith::cuda() out of the execution");
    }
    check_points(points, {}, execution, Where::cpu);
    if (points.count() != clusters.points() || points.dtype() != clusters.dtype) {
        throw error(ErrorKind::invalid_argument, "there are ", points.count(), " points of type ",
                    detail::name_of(points.dtype()), ", but the clusters are those of ", clusters.points(), " of type ",
                    detail::name_of(clusters.dtype), "; pass the points that were clustered");
    }
    if (points.tree() != nullptr && points.tree()->engine() != Engine::tree) {
        throw error(ErrorKind::unsupported, "the tree of the points is of engine '",
                    kith::name_of(points.tree()->engine()), "'; predictions need one of engine 'tree', or the points");
    }
    if (points.tree() != nullptr && points.tree()->box() != clusters.box) {
        throw Error(ErrorKind::invalid_argument, "the box of the tree is not that of the clusters; build the tree in "
                                                 "the box that hdbscan() had");
    }
    check_view(new_points, "new_points");
    naming_second_set("new_points", [&] { check_queries(new_points, points.dimension(), points.dtype()); });
}

} // namespace

} // namespace detail

HdbscanResult hdbscan(const PointsOrTree& points, std::int64_t min_cluster_size, const HdbscanOptions& options) {
    const detail::HdbscanCall call{points, min_cluster_size, options};
    const detail::Where where = detail::where_of(options.execution);
    if (detail::is_over_ranks(where)) {
        return detail::hdbscan_over_team(call);
    }
    detail::check(call, where);
    HdbscanResult result;
    result.min_samples = options.min_samples > 0 ? options.min_samples : min_cluster_size;
    result.min_cluster_size = min_cluster_size;
    result.selection_epsilon = options.selection_epsilon;
    result.dtype = points.dtype();
    result.engine =
        detail::choose(detail::Task::density_clusters, options.engine, detail::size_of(points, nullptr, 0, where));
    const bool is_on_gpu = where == detail::Where::gpu;
    detail::Context context(is_on_gpu ? cpu(options.execution.threads, options.execution.progress) : options.execution);
    if (is_on_gpu) {
        detail::on_gpu().density_tree(points, options, context, result);
    } else {
        detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) { detail::span_into<T>(context, call, result); });
    }
    if (points.count() > 0) {
        detail::find_clusters(context, points.count(), options, result);
    }
    const StageReports stages = context.take_stages();
    result.stages.insert(result.stages.end(), stages.begin(), stages.end());
    return result;
}

std::vector<std::int32_t> HdbscanResult::cut(double eps, const Execution& execution) const {
    detail::require_one_process(execution);
    detail::require_whole(*this);
    if (execution.device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported,
                    "clusters are cut on the CPU only; leave kith::cuda() out of its execution");
    }
    detail::check_eps(eps);
    const double rounded = detail::with_dtype(dtype, [&]<Coordinate T>(T) { return detail::rounded_eps<T>(eps); });
    if (eps > 0 && rounded < shortest_length) {
        throw detail::unresolved_eps(eps, {-1, -1, largest});
    }
    std::vector<std::int32_t> found = detail::zeros<std::int32_t>(execution, points(), "the labels");
    const auto longer = std::upper_bound(heights.begin(), heights.end(), rounded);
    detail::Context context(execution);
    context.stage("link", [&] {
        detail::label_core_points(
            context, std::span(edges).first(longer - heights.begin()),
            [&](std::int64_t i) { return core_distances[i] <= rounded; }, found);
    });
    return found;
}

HdbscanPrediction approximate_predict(const HdbscanResult& clusters, const PointsOrTree& points,
                                      const PointsView& new_points, const Execution& execution) {
    detail::check_prediction(clusters, points, new_points, execution);
    HdbscanPrediction result;
    const auto count = static_cast<std::size_t>(new_points.count());
    detail::with_allocation_errors("the prediction", [&] {
        result.labels.assign(count, -1);
        result.probabilities.assign(count, 0);
        result.neighbors.assign(count, -1);
        result.distances.assign(count, std::numeric_limits<double>::infinity());
    });
    detail::Context context(execution);
    detail::with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        const Box box = points.tree() != nullptr ? Box() : clusters.box;
        detail::WorkingPoints<T> working(context, points, box);
        std::optional<detail::NormalizedPoints<T>> others;
        context.run([&] {
            detail::naming_second_set("new_points",
                                      [&] { others = detail::normalize_queries(new_points, working.frame()); });
        });
        if (points.count() > 0 && count > 0) {
            const detail::PlaneTree<T>* const tree = working.planes(context, Engine::tree);
            const TreeShape shape = points.tree() != nullptr ? points.tree()->shape() : TreeShape();
            detail::predict(context, *tree, shape, *others, clusters, result);
        }
    });
    result.stages = context.take_stages();
    return result;
}

} // namespace kith
