// The public friends-of-friends calls: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/rank_calls.hpp"
#include "calls/sources.hpp"
#include "calls/zeros.hpp"
#include "engines/brute_force/fof.hpp"
#include "engines/kdtree/fof.hpp"
#include "groups/checks.hpp"
#include "groups/fof.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

namespace kith {

namespace detail {

namespace {

template <Coordinate T>
void link(Context& context, const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    WorkingPoints<T> points(context, call.points, call.options.box);
    describe_frame(points.frame(), result);
    if (call.options.phase_space) {
        points.enter_phase_space(context, {*call.options.phase_space, call.length}, result);
    } else {
        resolve_length(call.length, points.frame(), call.points.count(), result,
                       [&] { return points.largest(context); });
    }
    if (result.engine == Engine::kdtree && call.points.count() > 0) {
        const BucketTree<T>& tree = points.kdtree(context);
        context.stage("link", [&] { label_by_range_queries(context, tree, labels, result); });
        return;
    }
    const PlaneTree<T>* const planes = points.planes(context, result.engine);
    context.stage("link", [&] {
        planes != nullptr ? label_tree(context, *planes, labels, result)
                          : label_all_pairs(context, points.in_any_order(context), labels, result);
    });
}

/// The call has been checked.
void run(const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    const Execution& execution = call.options.execution;
    check_labels(labels, call.points.count());
    const Where where = where_of(execution);
    result.engine = choose(call.task(), call.options.engine, size_of(call.points, nullptr, 0, where));
    if (where == Where::gpu) {
        on_gpu().fof(call.points, call.length, call.options, labels, result);
    } else {
        Context context(execution);
        with_dtype(call.points.dtype(), [&]<Coordinate T>(T) { link<T>(context, call, labels, result); });
        result.stages = context.take_stages();
    }
}

} // namespace

} // namespace detail

LinkingLength LinkingLength::overdensity(double density, int dimension, double omega_sim) {
    for (const auto& [name, value] : {std::pair("the overdensity", density), {"omega_sim", omega_sim}}) {
        if (!(value > 0) || std::isinf(value)) {
            throw detail::error(ErrorKind::invalid_argument, detail::of_value(value), name, " is ", value,
                                "; it must be a finite number above 0");
        }
    }
    if (dimension < 1 || dimension > max_dimension) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(dimension), "an overdensity in ", dimension,
                            " dimensions was asked for; there are 1 to ", max_dimension);
    }
    double ball = dimension % 2 == 0 ? 1 : 2; // the volume of the unit ball in 0 or 1 dimensions
    for (int d = dimension % 2 == 0 ? 2 : 3; d <= dimension; d += 2) {
        ball *= 2 * std::numbers::pi / d;
    }
    const double volume = 2 / ball * omega_sim / density; // of the sphere of the points, in their mean volume
    if (!std::isnormal(volume)) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(density), "the overdensity is ", density,
                            " and omega_sim ", omega_sim, ", beyond what float64 can express as a linking length");
    }
    return relative(detail::root_of(volume, dimension));
}

FofResult fof(const PointsOrTree& points, LinkingLength linking_length, const FofOptions& options) {
    const detail::FofCall call{points, linking_length, options};
    if (detail::is_over_ranks(detail::where_of(options.execution))) {
        return detail::fof_over_team(call);
    }
    detail::check(call);
    FofResult result;
    result.label_array = detail::zeros<std::int32_t>(options.execution, points.count(), "the labels");
    detail::run(call, result.label_array.vector<std::int32_t>(), result);
    return result;
}

FofSummary fof_into(std::span<std::int32_t> labels, const PointsOrTree& points, LinkingLength linking_length,
                    const FofOptions& options) {
    const detail::FofCall call{points, linking_length, options};
    detail::check(call);
    FofSummary result;
    detail::run(call, labels, result);
    return result;
}

} // namespace kith
