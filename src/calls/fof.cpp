// The public friends-of-friends calls: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "calls/choose.hpp"
#include "calls/phase_space.hpp"
#include "calls/sources.hpp"
#include "calls/zeros.hpp"
#include "engines/brute_force/fof.hpp"
#include "engines/kdtree/planes.hpp"
#include "groups/checks.hpp"
#include "groups/fof.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace kith {

namespace detail {

namespace {

/// Any public search for groups.
struct FofCall {
    const PointsOrTree& points;
    LinkingLength length;
    const FofOptions& options;
};

template <Coordinate T>
void link_in(Context& context, const PlaneTree<T>& tree, std::span<std::int32_t> labels, FofSummary& result) {
    context.stage("link", [&] { label_tree(context, tree, labels, result); });
}

template <Coordinate T>
void set_box(const Frame<T>& frame, FofSummary& result) {
    result.box = resolved_box(frame);
    result.wrapped_points = frame.outside;
}

template <Coordinate T>
void link_in_phase_space(Context& context, const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    PhaseSpacePoints<T> points;
    context.run([&] {
        const auto positions = normalize_sources<T>(call.points.points(), call.options.box);
        set_box(positions.frame, result);
        points = resolve_phase_space(positions, call.options.box, {*call.options.phase_space, call.length}, result);
    });
    if (result.engine == Engine::tree) {
        link_in<T>(context, build_plane_tree(context, points), labels, result);
        return;
    }
    PointSet<T> gathered;
    context.run([&] { gathered = gather_points(context, points); });
    if (result.engine == Engine::kdtree) {
        link_in<T>(context, build_kdtree_planes(context, {&gathered}), labels, result);
    } else {
        context.stage("link", [&] { label_all_pairs(context, gathered, labels, result); });
    }
}

template <Coordinate T>
void link(Context& context, const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    if (call.options.phase_space) {
        link_in_phase_space<T>(context, call, labels, result);
        return;
    }
    WorkingPoints<T> points(context, call.points, call.options.box);
    resolve_length(call.length, points.frame(), call.points.count(), result, [&] { return points.largest(context); });
    set_box(points.frame(), result);
    if (result.engine == Engine::tree) {
        link_in<T>(context, points.tree(context), labels, result);
    } else if (result.engine == Engine::kdtree) {
        link_in<T>(context, build_kdtree_planes(context, points.unsorted()), labels, result);
    } else {
        context.stage("link", [&] { label_all_pairs(context, points.in_any_order(context), labels, result); });
    }
}

Task task_of(const FofCall& call) {
    return call.options.phase_space ? Task::groups_in_phase_space : Task::groups;
}

/// All that can be checked without looking at the points, but for the memory of the labels.
void check(const FofCall& call) {
    check_engine(call.options.engine, task_of(call), call.options.execution.device.kind);
    check_length(call.length);
    check_points(call.points, call.options.box, call.options.execution);
    if (call.options.phase_space) {
        check_phase_space(*call.options.phase_space, call.points);
    }
}

/// The call has been checked.
void run(const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    const Execution& execution = call.options.execution;
    const std::int64_t count = call.points.count();
    check_labels(labels, count);
    result.engine = choose(task_of(call), call.options.engine,
                           {count, count, false, 0, call.points.tree() != nullptr, execution.device.kind});
    if (is_on_gpu(execution)) {
        fof_on_device(call.points, call.length, call.options, labels, result);
    } else {
        Context context(execution);
        with_dtype(call.points.dtype(), [&]<Coordinate T>(T) { link<T>(context, call, labels, result); });
        result.stages = context.take_stages();
    }
}

} // namespace

} // namespace detail

LinkingLength LinkingLength::overdensity(double density, int dimension) {
    if (!(density > 0) || std::isinf(density)) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(density), "the overdensity is ", density,
                            "; it must be a finite number above 0");
    }
    if (dimension < 1 || dimension > max_dimension) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(dimension), "an overdensity in ", dimension,
                            " dimensions was asked for; there are 1 to ", max_dimension);
    }
    double ball = dimension % 2 == 0 ? 1 : 2; // the volume of the unit ball in 0 or 1 dimensions
    for (int d = dimension % 2 == 0 ? 2 : 3; d <= dimension; d += 2) {
        ball *= 2 * std::numbers::pi / d;
    }
    const double volume = 2 / ball / density; // of the sphere of the points, in their mean volume
    if (!std::isnormal(volume)) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(density), "the overdensity is ", density,
                            ", beyond what float64 can express as a linking length");
    }
    return relative(detail::root_of(volume, dimension));
}

FofResult fof(const PointsOrTree& points, LinkingLength linking_length, const FofOptions& options) {
    const detail::FofCall call{points, linking_length, options};
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
