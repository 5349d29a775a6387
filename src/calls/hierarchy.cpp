// The public calls about the hierarchy of groups: a call is checked once, then works on the edges of a spanning tree.
#include <kith/error.hpp>
#include <kith/hierarchy.hpp>

#include "calls/calls.hpp"
#include "calls/rank_tree_calls.hpp"
#include "calls/sources.hpp"
#include "calls/tree_lengths.hpp"
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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

namespace {

/// Labels of the groups at a length that the result states.
void label(std::span<std::int32_t> labels, const SpanningTree& tree, const Execution& execution, FofSummary& result) {
    check_labels(labels, tree.points());
    Context context(execution);
    context.stage("link", [&] {
        with_allocation_errors("the groups", [&] {
            label_components(context, tree.edges().first(edges_within(tree, result.linking_length)), labels, result);
        });
    });
    result.stages = context.take_stages();
}

/// The levels before the spanning tree is known.
std::vector<FofLevel> levels_of_points(std::span<const LinkingLength> lengths, const PointsOrTree& points,
                                       const FofLadderOptions& options) {
    check_points(points, options.box, options.execution, where_of(options.execution));
    Context context(options.execution);
    return with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        const WorkingPoints<T> working(context, points, options.box);
        return levels_at<FofLevel>(lengths, separation_of(working.frame(), points.count()), points.dtype());
    });
}

void climb(Context& context, const SpanningTree& tree, std::int64_t min_members, std::vector<FofLevel>& levels) {
    const auto edges = [&](const FofLevel& level) { return edges_within(tree, level.linking_length); };
    context.expect(edges(levels.back()));
    Ladder ladder(context, tree.points(), min_members);
    std::int64_t joined = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        ladder.join(tree.edges().subspan(joined, edges(levels[i]) - joined));
        joined = edges(levels[i]);
        ladder.list(levels[i]);
        if (i > 0) {
            ladder.find_parents(levels[i - 1]);
        }
    }
}

/// Where one call over ranks has found the tree, too: its traffic, and the work of points.
void add_cost_of_tree(const SpanningTree& tree, std::optional<Distribution>& distribution) {
    if (distribution) {
        const Traffic& of_tree = tree.distribution->traffic;
        distribution->traffic.bytes_sent += of_tree.bytes_sent;
        distribution->traffic.bytes_received += of_tree.bytes_received;
        distribution->traffic.messages_sent += of_tree.messages_sent;
        distribution->traffic.bytes_migrated += of_tree.bytes_migrated;
        distribution->work = tree.distribution->work;
    }
}

void require_level(std::int64_t level, std::size_t levels) {
    if (level < 0 || level >= static_cast<std::int64_t>(levels)) {
        throw error(ErrorKind::invalid_argument, of_value(level), "there is no level ", level, "; there are ", levels,
                    ", numbered from 0");
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

    static Hierarchy make_over_ranks(SpanningTree tree, const Execution& execution) {
        detail::MergesOverTeam merges = detail::merges_over_team(tree, execution);
        Hierarchy result;
        result.merged_edges_ = std::move(merges.edges);
        result.merged_edges_.distribution = merges.distribution;
        result.merges64_ = std::move(merges.merges);
        result.stages = std::move(merges.stages);
        result.distribution = std::move(merges.distribution);
        result.tree_ = std::move(tree);
        return result;
    }

    static FofLadder make_ladder_over_ranks(SpanningTree tree, std::span<const LinkingLength> lengths,
                                            const FofLadderOptions& options) {
        detail::LevelsOverTeam levels = detail::levels_over_team(tree, lengths, options);
        FofLadder result;
        result.levels64_ = std::move(levels.levels);
        result.stages = tree.stages;
        result.stages.insert(result.stages.end(), levels.stages.begin(), levels.stages.end());
        result.distribution = std::move(levels.distribution);
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
    detail::describe_cut(linking_length, tree, result);
    detail::label(labels, tree, execution, result);
    return result;
}

FofResult fof(const SpanningTree& tree, LinkingLength linking_length, const Execution& execution) {
    if (execution.team != nullptr) {
        return detail::fof_of_tree_over_team(tree, execution, [&] { return linking_length; });
    }
    FofResult result;
    std::vector<std::int32_t> labels = detail::zeros<std::int32_t>(execution, tree.points(), "the labels");
    static_cast<FofSummary&>(result) = fof_into(labels, tree, linking_length, execution);
    result.label_array = std::move(labels);
    return result;
}

SpanningTree edges_in_order(const SpanningTree& tree, const Execution& execution) {
    if (execution.team == nullptr) {
        throw Error(ErrorKind::invalid_argument, "edges_in_order divides the edges of a spanning tree over ranks; make "
                                                 "the execution with over()");
    }
    return detail::edges_in_order_over_team(tree, execution);
}

Hierarchy hierarchy(SpanningTree tree, const Execution& execution) {
    return execution.team != nullptr ? HierarchyAccess::make_over_ranks(std::move(tree), execution)
                                     : HierarchyAccess::make(std::move(tree), execution);
}

Hierarchy hierarchy(const PointsOrTree& points, const SpanningTreeOptions& options) {
    Execution of_merges = cpu(options.execution.threads, options.execution.progress);
    of_merges.team = options.execution.team;
    Hierarchy result = hierarchy(spanning_tree(points, options), of_merges);
    detail::add_cost_of_tree(result.spanning_tree(), result.distribution);
    return result;
}

void Hierarchy::require_width(bool over_ranks) const {
    if (over_ranks != distribution.has_value()) {
        throw Error(ErrorKind::invalid_argument,
                    over_ranks ? "the hierarchy was found by one process; its merges are merges()"
                               : "the hierarchy was found over ranks; the merges of this rank are merges64()");
    }
}

std::span<const Merge> Hierarchy::merges() const {
    require_width(false);
    return merges_;
}

std::span<const Merge64> Hierarchy::merges64() const {
    require_width(true);
    return merges64_;
}

const SpanningTree& Hierarchy::merged_edges() const {
    require_width(true);
    return merged_edges_;
}

void Hierarchy::write_linkage(std::span<double> numbers) const {
    const auto write = [&](const auto& merges, const SpanningTree& edges) {
        if (numbers.size() != 4 * merges.size()) {
            throw detail::error(ErrorKind::invalid_argument, "the memory for the linkage matrix holds ", numbers.size(),
                                " numbers; ", merges.size(), " merges need 4 each");
        }
        const detail::DenormalGuard guard;
        detail::with_dtype(tree_.dtype(), [&]<Coordinate T>(T) {
            const std::span<const T> heights = edges.heights<T>();
            for (std::size_t i = 0; i < merges.size(); ++i) {
                numbers[4 * i] = static_cast<double>(merges[i].left);
                numbers[4 * i + 1] = static_cast<double>(merges[i].right);
                numbers[4 * i + 2] = heights[i];
                numbers[4 * i + 3] = static_cast<double>(merges[i].count);
            }
        });
    };
    distribution ? write(merges64_, merged_edges_) : write(merges_, tree_);
}

FofLadder fof_ladder(const PointsOrTree& points, std::span<const LinkingLength> linking_lengths,
                     const FofLadderOptions& options) {
    const SpanningTreeOptions of_tree{options.box, options.engine, options.execution};
    if (options.execution.team != nullptr) {
        detail::check_ladder_over_team(points, linking_lengths, options);
        FofLadderOptions of_levels = options;
        of_levels.box = {};
        FofLadder result =
            HierarchyAccess::make_ladder_over_ranks(spanning_tree(points, of_tree), linking_lengths, of_levels);
        detail::add_cost_of_tree(result.spanning_tree(), result.distribution);
        return result;
    }
    detail::check_ladder(linking_lengths, options);
    detail::check_engine(options.engine, detail::Task::spanning_tree, detail::Where::cpu);
    std::vector<FofLevel> levels = detail::levels_of_points(linking_lengths, points, options);
    return HierarchyAccess::make_ladder(spanning_tree(points, of_tree), std::move(levels), options);
}

FofLadder fof_ladder(SpanningTree tree, std::span<const LinkingLength> linking_lengths,
                     const FofLadderOptions& options) {
    if (options.execution.team != nullptr) {
        return HierarchyAccess::make_ladder_over_ranks(std::move(tree), linking_lengths, options);
    }
    detail::check_ladder_of_tree(linking_lengths, options);
    std::vector<FofLevel> levels =
        detail::levels_at<FofLevel>(linking_lengths, SpanningTreeAccess::separation(tree), tree.dtype());
    return HierarchyAccess::make_ladder(std::move(tree), std::move(levels), options);
}

void FofLadder::require_width(bool over_ranks) const {
    if (over_ranks != distribution.has_value()) {
        throw Error(ErrorKind::invalid_argument,
                    over_ranks ? "the levels were found by one process; they are levels(), with labels()"
                               : "the levels were found over ranks; they are levels64(), with labels64()");
    }
}

std::span<const FofLevel> FofLadder::levels() const {
    require_width(false);
    return levels_;
}

std::span<const FofLevel64> FofLadder::levels64() const {
    require_width(true);
    return levels64_;
}

void FofLadder::write_labels(std::span<std::int32_t> labels, std::int64_t level, const Execution& execution) const {
    detail::require_level(level, levels().size());
    FofSummary groups;
    groups.linking_length = levels_[level].linking_length;
    detail::label(labels, tree_, execution, groups);
}

std::vector<std::int32_t> FofLadder::labels(std::int64_t level, const Execution& execution) const {
    require_width(false);
    std::vector<std::int32_t> labels = detail::zeros<std::int32_t>(execution, tree_.points(), "the labels");
    write_labels(labels, level, execution);
    return labels;
}

std::vector<std::int64_t> FofLadder::labels64(std::int64_t level, const Execution& execution) const {
    require_width(true);
    if (execution.team == nullptr) {
        throw Error(ErrorKind::invalid_argument, "labels64() of ranks is called by all of them; make the execution "
                                                 "with over()");
    }
    FofResult found = detail::fof_of_tree_over_team(tree_, execution, [&] {
        detail::require_level(level, levels64_.size());
        return LinkingLength::absolute(levels64_[level].linking_length);
    });
    return std::move(found.label_array.vector<std::int64_t>());
}

} // namespace kith
