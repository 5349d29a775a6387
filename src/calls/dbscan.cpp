// The public DBSCAN calls: a call is normalized, checked once, and dispatched once.
#include <kith/dbscan.hpp>
#include <kith/error.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/rank_calls.hpp"
#include "calls/sources.hpp"
#include "calls/zeros.hpp"
#include "engines/brute_force/dbscan.hpp"
#include "groups/checks.hpp"
#include "groups/dbscan.hpp"
#include "groups/resolve_eps.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <cstdint>
#include <span>

namespace kith {

namespace detail {

namespace {

void check_flags(std::span<const std::uint8_t> is_core, std::int64_t points) {
    if (!is_core.empty() && std::ssize(is_core) != points) {
        throw error(ErrorKind::invalid_argument, "the memory for is_core holds ", is_core.size(), " flags; ", points,
                    " points need one each, or none at all");
    }
}

/// The call has been checked.
void run(const DbscanCall& call, std::span<std::int32_t> labels, std::span<std::uint8_t> is_core,
         DbscanSummary& result) {
    const std::int64_t count = call.points.count();
    check_labels(labels, count);
    check_flags(is_core, count);
    const Execution& execution = call.options.execution;
    const Where where = where_of(execution);
    result.engine = choose(Task::clusters, call.options.engine, size_of(call.points, nullptr, 0, where));
    if (where == Where::gpu) {
        on_gpu().dbscan(call.points, call.options, {call.eps, call.min_samples, call.options.star, labels, is_core},
                        result);
        return;
    }
    Context context(execution);
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
        WorkingPoints<T> points(context, call.points, call.options.box);
        resolve_eps(call.eps, points.frame(), count, result, [&] { return points.largest(context); });
        if (count == 0) {
            return;
        }
        const ClusterRequest<T> request{points.frame().squared_radius(result.eps), call.min_samples, call.options.star,
                                        labels, is_core};
        if (const PlaneTree<T>* const planes = points.planes(context, result.engine)) {
            cluster_tree(context, *planes, request, result);
        } else {
            const PointSet<T>* gathered = nullptr;
            context.stage("gather", [&] { gathered = &points.in_any_order(context); });
            cluster_all_pairs(context, *gathered, request, result);
        }
    });
    result.stages = context.take_stages();
}

} // namespace

} // namespace detail

DbscanResult dbscan(const PointsOrTree& points, double eps, std::int64_t min_samples, const DbscanOptions& options) {
    const detail::DbscanCall call{points, eps, min_samples, options};
    if (detail::is_over_ranks(detail::where_of(options.execution))) {
        return detail::dbscan_over_team(call);
    }
    detail::check(call);
    DbscanResult result;
    result.label_array = detail::zeros<std::int32_t>(options.execution, points.count(), "the labels");
    result.is_core = detail::zeros<std::uint8_t>(options.execution, points.count(), "the flags of core points");
    detail::run(call, result.label_array.vector<std::int32_t>(), result.is_core, result);
    return result;
}

DbscanSummary dbscan_into(std::span<std::int32_t> labels, std::span<std::uint8_t> is_core, const PointsOrTree& points,
                          double eps, std::int64_t min_samples, const DbscanOptions& options) {
    const detail::DbscanCall call{points, eps, min_samples, options};
    detail::check(call);
    DbscanSummary result;
    detail::run(call, labels, is_core, result);
    return result;
}

} // namespace kith
