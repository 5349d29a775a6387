// The public friends-of-friends calls: a call is normalized, checked once, and dispatched once.
#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "engines/brute_force/fof.hpp"
#include "groups/checks.hpp"
#include "groups/fof.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace kith {

namespace detail {

namespace {

/// Any public search for groups.
struct FofCall {
    const Tree* tree = nullptr; ///< or else points in a box
    PointsView points = {};
    Box box = {};
    LinkingLength length = LinkingLength::absolute(0);
    const FofOptions* options = nullptr;
    const Execution* execution = nullptr;

    [[nodiscard]] std::int64_t count() const { return tree != nullptr ? tree->size() : points.count(); }
    [[nodiscard]] DType dtype() const { return tree != nullptr ? tree->dtype() : points.dtype(); }
    [[nodiscard]] Engine engine() const {
        const int dimension = tree != nullptr ? tree->dimension() : points.dimension();
        return choose(Task::groups, options->engine,
                      {count(), count(), false, dimension, tree != nullptr, execution->device.kind});
    }
};

/// All that can be checked without looking at the points, but for the memory of the labels.
void check(const FofCall& call) {
    if (call.tree != nullptr) {
        require_device_of(*call.tree, *call.execution);
    }
    check_length(call.length);
    if (call.tree == nullptr) {
        check_sources(call.points, *call.execution);
    }
}

template <Coordinate T>
void link(Context& context, const FofCall& call, std::span<std::int32_t> labels, FofSummary& result) {
    const PlaneTree<T>* kept = call.tree != nullptr ? &call.tree->data().as<T>() : nullptr;
    std::optional<NormalizedPoints<T>> normalized;
    if (kept == nullptr) {
        context.run([&] { normalized = normalize_sources<T>(call.points, call.box); });
    }
    resolve_length(call.length, kept != nullptr ? kept->points.frame : normalized->frame, call.count(), result);
    std::optional<PlaneTree<T>> built;
    if (kept == nullptr && result.engine == Engine::tree) {
        kept = &built.emplace(build_plane_tree<T>(context, *normalized, TreeOptions{}));
    }
    context.stage("link", [&] {
        if (result.engine == Engine::tree) {
            link_tree(context, *kept, labels, result);
        } else if (kept != nullptr) {
            link_all_pairs(context, kept->points, labels, result);
        } else {
            link_all_pairs(context, gather_points(context, *normalized), labels, result);
        }
    });
}

/// The call has been checked, but for the labels' memory.
FofSummary run(const FofCall& call, std::span<std::int32_t> labels) {
    check_labels(labels, call.count());
    if (is_on_gpu(*call.execution)) {
        return call.tree != nullptr
                   ? label_tree_on_device(*call.tree->data().on_device, call.dtype(), call.length, labels,
                                          *call.execution)
                   : label_points_on_device(call.points, call.box, call.length, *call.options, labels, *call.execution);
    }
    Context context(*call.execution);
    FofSummary result;
    result.engine = call.engine();
    with_dtype(call.dtype(), [&]<Coordinate T>(T) { link<T>(context, call, labels, result); });
    result.stages = context.take_stages();
    return result;
}

/// With labels of its own, and the sizes of single points.
FofResult run_owned(const FofCall& call) {
    check(call);
    FofResult result;
    result.labels.resize(static_cast<std::size_t>(call.count()));
    FofSummary summary = run(call, result.labels);
    result.sizes = std::move(summary.sizes);
    result.sizes.resize(static_cast<std::size_t>(summary.groups), 1);
    result.linking_length = summary.linking_length;
    result.volume = summary.volume;
    result.volume_kind = summary.volume_kind;
    result.engine = summary.engine;
    result.stages = std::move(summary.stages);
    return result;
}

FofSummary run_into(std::span<std::int32_t> labels, const FofCall& call) {
    check(call);
    return run(call, labels);
}

} // namespace

} // namespace detail

std::int64_t FofResult::groups_of_at_least(std::int64_t min_members) const {
    const auto first_smaller = std::partition_point(sizes.begin(), sizes.end(),
                                                    [min_members](std::int32_t size) { return size >= min_members; });
    return first_smaller - sizes.begin();
}

FofResult fof(const Tree& tree, LinkingLength linking_length, const FofOptions& options, const Execution& execution) {
    return detail::run_owned({.tree = &tree, .length = linking_length, .options = &options, .execution = &execution});
}

FofResult fof(const PointsView& points, LinkingLength linking_length, const Box& box, const FofOptions& options,
              const Execution& execution) {
    return detail::run_owned(
        {.points = points, .box = box, .length = linking_length, .options = &options, .execution = &execution});
}

FofSummary fof_into(std::span<std::int32_t> labels, const Tree& tree, LinkingLength linking_length,
                    const FofOptions& options, const Execution& execution) {
    return detail::run_into(labels,
                            {.tree = &tree, .length = linking_length, .options = &options, .execution = &execution});
}

FofSummary fof_into(std::span<std::int32_t> labels, const PointsView& points, LinkingLength linking_length,
                    const Box& box, const FofOptions& options, const Execution& execution) {
    return detail::run_into(
        labels, {.points = points, .box = box, .length = linking_length, .options = &options, .execution = &execution});
}

} // namespace kith
