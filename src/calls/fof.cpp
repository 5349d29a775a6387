// The public friends-of-friends calls: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "calls/choose.hpp"
#include "calls/sources.hpp"
#include "engines/brute_force/fof.hpp"
#include "groups/checks.hpp"
#include "groups/fof.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <cstdint>
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
void link(Context& context, const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    WorkingPoints<T> points(context, call.points, call.options.box);
    resolve_length(call.length, points.frame(), call.points.count(), result, [&] { return points.largest(context); });
    result.box = resolved_box(points.frame());
    if (result.engine == Engine::tree) {
        const PlaneTree<T>& tree = points.tree(context);
        context.stage("link", [&] { link_tree(context, tree, labels, result); });
    } else {
        context.stage("link", [&] { link_all_pairs(context, points.in_any_order(context), labels, result); });
    }
}

/// All that can be checked without looking at the points, but for the memory of the labels.
void check(const FofCall& call) {
    check_length(call.length);
    check_points(call.points, call.options.box, call.options.execution);
}

/// The call has been checked. The sizes of the groups of two or more come from the engines, those of single points from
/// here.
void run(const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    const Execution& execution = call.options.execution;
    const std::int64_t count = call.points.count();
    check_labels(labels, count);
    result.engine =
        choose(Task::groups, call.options.engine,
               {count, count, false, call.points.dimension(), call.points.tree() != nullptr, execution.device.kind});
    if (is_on_gpu(execution)) {
        fof_on_device(call.points, call.length, call.options, labels, result);
    } else {
        Context context(execution);
        with_dtype(call.points.dtype(), [&]<Coordinate T>(T) { link<T>(context, call, labels, result); });
        result.stages = context.take_stages();
    }
    with_allocation_errors("the sizes of the groups",
                           [&] { result.sizes.resize(static_cast<std::size_t>(result.groups), 1); });
}

} // namespace

} // namespace detail

std::int64_t FofSummary::groups_of_at_least(std::int64_t min_members) const {
    const auto first_smaller = std::partition_point(sizes.begin(), sizes.end(),
                                                    [min_members](std::int32_t size) { return size >= min_members; });
    return first_smaller - sizes.begin();
}

FofResult fof(const PointsOrTree& points, LinkingLength linking_length, const FofOptions& options) {
    const detail::FofCall call{points, linking_length, options};
    detail::check(call);
    FofResult result;
    detail::with_allocation_errors("the labels",
                                   [&] { result.labels.resize(static_cast<std::size_t>(points.count())); });
    detail::run(call, result.labels, result);
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
