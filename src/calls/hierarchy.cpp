// The public calls about the hierarchy of groups: a call is checked once, then works on the edges of a spanning tree.
#include <kith/error.hpp>
#include <kith/hierarchy.hpp>

#include "calls/calls.hpp"
#include "calls/sources.hpp"
#include "calls/zeros.hpp"
#include "groups/checks.hpp"
#include "mst/components.hpp"
#include "mst/edges.hpp"
#include "mst/ladder.hpp"
#include "mst/merges.hpp"
#include "points/as_given.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/denormals.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/one_process.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

namespace {

/// The linking length in the units of the points, into a result.
template <class Result>
void resolve(const LinkingLength& length, const Separation& separation, DType dtype, Result& result) {
    const DenormalGuard guard;
    ResolvedLength resolved;
    with_dtype(dtype, [&]<Coordinate T>(T) {
        check(length.is_relative() ? resolve_relative<T>(length.value(), separation, resolved)
                                   : round_length<T>(length.value(), resolved));
    });
    const double unrounded = length.is_relative() ? length.value() * separation.mean : length.value();
    if (unrounded > 0 && resolved.length < separation.shortest) {
        check(unresolved_beside({-1, -1, separation.largest}, unrounded));
    }
    result.linking_length = resolved.length;
    result.volume = resolved.volume;
    result.volume_kind = resolved.volume_kind;
}

/// How many edges join groups at a linking length that has been resolved.
std::size_t edges_within(const SpanningTree& tree, double linking_length) {
    return with_dtype(tree.dtype(), [&]<Coordinate T>(T) {
        const std::span<const T> heights = tree.heights<T>();
        const auto longer = std::upper_bound(heights.begin(), heights.end(), static_cast<T>(linking_length));
        return static_cast<std::size_t>(longer - heights.begin());
    });
}

/// Labels of the groups at a length that has been resolved.
void label(std::span<std::int32_t> labels, const SpanningTree& tree, const Execution& execution, FofSummary& result) {
    check_labels(labels, tree.points());
    Context context(execution);
    context.stage("link", [&] {
        with_allocation_errors("the groups", [&] {
            label_components(context, tree.edges().first(edges_within(tree, result.linking_length)), labels, result);
        });
    });
    result.engine = tree.engine();
    result.box = tree.box();
    result.wrapped_points = tree.facts().wrapped_points;
    result.stages = context.take_stages();
}

/// All that can be checked without looking at the points.
void check_ladder(std::span<const LinkingLength> lengths, const FofLadderOptions& options) {
    if (options.execution.device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, "groups at several linking lengths are found on the CPU only; run on the "
                                            "CPU, with kith::cpu()");
    }
    if (lengths.empty()) {
        throw Error(ErrorKind::invalid_argument, "there are no linking lengths; give one or more, ascending");
    }
    for (const LinkingLength& length : lengths) {
        check_length(length);
    }
    if (options.min_members < 1) {
        throw error(ErrorKind::invalid_argument, of_value(options.min_members), "min_members is ", options.min_members,
                    "; it must be 1 or more");
    }
}

/// The levels, without their groups. Throws invalid_argument if they descend.
std::vector<FofLevel> levels_at(std::span<const LinkingLength> lengths, const Separation& separation, DType dtype) {
    std::vector<FofLevel> levels(lengths.size());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        resolve(lengths[i], separation, dtype, levels[i]);
        if (i > 0 && levels[i].linking_length < levels[i - 1].linking_length) {
            throw error(ErrorKind::invalid_argument, of_value(levels[i].linking_length),
                        "the linking lengths descend: ", levels[i].linking_length, " follows ",
                        levels[i - 1].linking_length, "; give them in ascending order");
        }
    }
    return levels;
}

/// The same before the spanning tree is known.
std::vector<FofLevel> levels_at(std::span<const LinkingLength> lengths, const PointsOrTree& points,
                                const FofLadderOptions& options) {
    check_points(points, options.box, options.execution, where_of(options.execution));
    Context context(options.execution);
    return with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        const WorkingPoints<T> working(context, points, options.box);
        return levels_at(lengths, separation_of(working.frame(), points.count()), points.dtype());
    });
}

void climb(Context& context, const SpanningTree& tree, std::int64_t min_members, std::vector<FofLevel>& levels) {
    const auto edges = [&](const FofLevel& level) { return edges_within(tree, level.linking_length); };
    context.expect(static_cast<std::int64_t>(edges(levels.back())));
    Ladder ladder(context, tree.points(), min_members);
    std::size_t joined = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        ladder.join(tree.edges().subspan(joined, edges(levels[i]) - joined));
        joined = edges(levels[i]);
        ladder.list(levels[i]);
        if (i > 0) {
            ladder.find_parents(levels[i - 1]);
        }
    }
}

} // namespace

} // namespace detail

struct HierarchyAccess {
    static Hierarchy make(SpanningTree tree, const Execution& execution) {
        Hierarchy result;
        detail::Context context(execution);
        context.stage("merge", [&] { result.merges_ = detail::merges_of(context, tree.edges(), tree.points()); });
        result.stages = context.take_stages();
        result.tree_ = std::move(tree);
        return result;
    }

    static FofLadder make_ladder(SpanningTree tree, std::vector<FofLevel> levels, const FofLadderOptions& options) {
        FofLadder result;
        result.levels_ = std::move(levels);
        detail::Context context(options.execution);
        context.stage("levels", [&] { detail::climb(context, tree, options.min_members, result.levels_); });
        result.stages = tree.stages;
        const StageReports own = context.take_stages();
        result.stages.insert(result.stages.end(), own.begin(), own.end());
        result.tree_ = std::move(tree);
        return result;
    }
};

FofSummary fof_into(std::span<std::int32_t> labels, const SpanningTree& tree, LinkingLength linking_length,
                    const Execution& execution) {
    detail::check_length(linking_length);
    FofSummary result;
    detail::resolve(linking_length, SpanningTreeAccess::separation(tree), tree.dtype(), result);
    result.velocity_length = SpanningTreeAccess::velocity_length(tree, result.linking_length);
    result.velocity_scale = tree.velocity_scale();
    detail::label(labels, tree, execution, result);
    return result;
}

FofResult fof(const SpanningTree& tree, LinkingLength linking_length, const Execution& execution) {
    FofResult result;
    std::vector<std::int32_t> labels = detail::zeros<std::int32_t>(execution, tree.points(), "the labels");
    static_cast<FofSummary&>(result) = fof_into(labels, tree, linking_length, execution);
    result.label_array = std::move(labels);
    return result;
}

Hierarchy hierarchy(SpanningTree tree, const Execution& execution) {
    return HierarchyAccess::make(std::move(tree), execution);
}

Hierarchy hierarchy(const PointsOrTree& points, const SpanningTreeOptions& options) {
    detail::require_one_process(options.execution);
    return hierarchy(spanning_tree(points, options), cpu(options.execution.threads, options.execution.progress));
}

void Hierarchy::write_linkage(std::span<double> numbers) const {
    if (numbers.size() != 4 * merges_.size()) {
        throw detail::error(ErrorKind::invalid_argument, "the memory for the linkage matrix holds ", numbers.size(),
                            " numbers; ", merges_.size(), " merges need 4 each");
    }
    const detail::DenormalGuard guard;
    detail::with_dtype(tree_.dtype(), [&]<Coordinate T>(T) {
        const std::span<const T> heights = tree_.heights<T>();
        for (std::size_t i = 0; i < merges_.size(); ++i) {
            numbers[4 * i] = merges_[i].left;
            numbers[4 * i + 1] = merges_[i].right;
            numbers[4 * i + 2] = heights[i];
            numbers[4 * i + 3] = merges_[i].count;
        }
    });
}

FofLadder fof_ladder(const PointsOrTree& points, std::span<const LinkingLength> linking_lengths,
                     const FofLadderOptions& options) {
    detail::check_ladder(linking_lengths, options);
    detail::check_engine(options.engine, detail::Task::spanning_tree, detail::Where::cpu);
    std::vector<FofLevel> levels = detail::levels_at(linking_lengths, points, options);
    return HierarchyAccess::make_ladder(spanning_tree(points, {options.box, options.engine, options.execution}),
                                        std::move(levels), options);
}

FofLadder fof_ladder(SpanningTree tree, std::span<const LinkingLength> linking_lengths,
                     const FofLadderOptions& options) {
    detail::check_ladder(linking_lengths, options);
    if (options.box != Box{}) {
        throw Error(ErrorKind::invalid_argument,
                    "the options have a box, but a spanning tree has its own; leave the box out of the options");
    }
    std::vector<FofLevel> levels =
        detail::levels_at(linking_lengths, SpanningTreeAccess::separation(tree), tree.dtype());
    return HierarchyAccess::make_ladder(std::move(tree), std::move(levels), options);
}

void FofLadder::write_labels(std::span<std::int32_t> labels, std::int64_t level, const Execution& execution) const {
    if (level < 0 || level >= std::ssize(levels_)) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(level), "there is no level ", level,
                            "; there are ", levels_.size(), ", numbered from 0");
    }
    FofSummary groups;
    groups.linking_length = levels_[level].linking_length;
    detail::label(labels, tree_, execution, groups);
}

std::vector<std::int32_t> FofLadder::labels(std::int64_t level, const Execution& execution) const {
    std::vector<std::int32_t> labels = detail::zeros<std::int32_t>(execution, tree_.points(), "the labels");
    write_labels(labels, level, execution);
    return labels;
}

} // namespace kith
