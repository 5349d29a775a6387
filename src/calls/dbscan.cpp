// The public DBSCAN calls: a call is normalized, checked once, and dispatched once.
#include <kith/dbscan.hpp>
#include <kith/error.hpp>

#include "calls/choose.hpp"
#include "calls/sources.hpp"
#include "calls/zeros.hpp"
#include "engines/brute_force/dbscan.hpp"
#include "groups/checks.hpp"
#include "groups/dbscan.hpp"
#include "groups/resolve_eps.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <cmath>
#include <cstdint>
#include <span>

namespace kith {

namespace detail {

namespace {

/// Any public search for clusters.
struct DbscanCall {
    const PointsOrTree& points;
    double eps;
    std::int64_t min_samples;
    const DbscanOptions& options;
};

/// All that can be checked without looking at the points, but for the caller's memory.
void check(const DbscanCall& call) {
    check_engine(call.options.engine, Task::clusters, call.options.execution.device.kind);
    if (!(call.eps >= 0) || std::isinf(call.eps)) {
        throw error(ErrorKind::invalid_argument, of_value(call.eps), "eps is ", call.eps,
                    "; it must be a finite number, 0 or more");
    }
    if (call.min_samples < 1) {
        throw error(ErrorKind::invalid_argument, of_value(call.min_samples), "min_samples is ", call.min_samples,
                    "; it must be 1 or more, as it counts the point itself");
    }
    check_points(call.points, call.options.box, call.options.execution);
}

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
    result.engine = choose(Task::clusters, call.options.engine,
                           {count, count, false, 0, call.points.tree() != nullptr, execution.device.kind});
    if (is_on_gpu(execution)) {
        dbscan_on_device(call.points, call.options, {call.eps, call.min_samples, call.options.star, labels, is_core},
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
        if (result.engine == Engine::tree) {
            cluster_tree(context, points.tree(context), request, result);
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
