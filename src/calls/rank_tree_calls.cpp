#include "calls/rank_tree_calls.hpp"

#include "calls/calls.hpp"
#include "calls/over_team.hpp"
#include "calls/rank_calls.hpp"
#include "calls/tree_lengths.hpp"
#include "distributed/arguments.hpp"
#include "distributed/edge_order.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/spanning_tree.hpp"
#include "distributed/tree_cut.hpp"
#include "mst/edges.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <bit>
#include <string>
#include <utility>

namespace kith::detail {

namespace {

std::vector<Argument> arguments_of(const SpanningTreeCall& call, const RankOptions& of_ranks) {
    const auto& at = call.options.phase_space;
    const LinkingLength length = at ? at->linking_length : LinkingLength::absolute(0);
    const VelocityLength psi = at ? at->phase_space.length : VelocityLength::absolute(0);
    return arguments_about(call.points.points(), call.options.box, of_ranks,
                           {given("velocities", at.has_value()),
                            {"linking length", length.value()},
                            flag("relative linking length", length.is_relative()),
                            {"linking length of velocities", psi.value()},
                            flag("relative linking length of velocities", psi.is_relative()),
                            given("masses", at && at->phase_space.masses)});
}

/// Throws invalid_argument unless the tree is a part as spanning_tree() returns it over these ranks.
void require_part(const SpanningTree& tree, const Execution& execution) {
    if (execution.device.kind != DeviceKind::cpu) {
        throw Error(ErrorKind::unsupported, "spanning trees are cut and merged on the CPU; leave the GPU out");
    }
    const int ranks = execution.team->communicator.size();
    const int found_over = tree.distribution ? tree.distribution->ranks : 0;
    if (found_over != ranks) {
        throw error(ErrorKind::invalid_argument, "the spanning tree was found ",
                    found_over == 0 ? std::string("by one process") : message("over ", found_over, " ranks"),
                    ", but this call runs over ", ranks, "; pass this rank's part of a tree that was found over them");
    }
    if (SpanningTreeAccess::part(tree).is_in_order) {
        throw Error(ErrorKind::invalid_argument, "the edges of the spanning tree are consecutive ones, from "
                                                 "edges_in_order(); pass the part that spanning_tree() returned");
    }
}

/// What ranks must have alike of a tree.
std::vector<Argument> arguments_of(const SpanningTree& tree) {
    return {{"number of points of the spanning tree", static_cast<double>(tree.points())},
            type("type of the points", tree.dtype())};
}

std::vector<Argument> arguments_of(std::span<const LinkingLength> lengths, const FofLadderOptions& options) {
    std::vector<Argument> arguments{{"min_members", static_cast<double>(options.min_members)},
                                    {"number of linking lengths", static_cast<double>(lengths.size())}};
    std::vector<std::int64_t> values;
    for (const LinkingLength& length : lengths) {
        values.insert(values.end(), {std::bit_cast<std::int64_t>(length.value()), length.is_relative() ? 1 : 0});
    }
    arguments.push_back(hash("linking lengths", values));
    return arguments;
}

struct TreeOptions {
    Execution execution;
};

} // namespace

SpanningTree spanning_tree_over_team(const SpanningTreeCall& call) {
    return over_team(
        call.options, [&] { check(call); },
        [&](const SpanningTreeOptions& options) {
            return SpanningTreeAccess::widened(spanning_tree(call.points, options), options.execution);
        },
        [&](Ranks& ranks, Context& context, const SpanningTreeOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::spanning_tree, arguments_of(call, of_ranks));
            return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                return spanning_tree_over_ranks<T>(ranks, context, {call.points.points(), options, of_ranks});
            });
        },
        [](const SpanningTree& tree) { return tree.count(); });
}

FofResult fof_of_tree_over_team(const SpanningTree& tree, const Execution& execution,
                                const std::function<LinkingLength()>& length) {
    LinkingLength cut_at = LinkingLength::absolute(0);
    return over_team(
        TreeOptions{execution},
        [&] {
            require_part(tree, execution);
            cut_at = length();
            check_length(cut_at);
        },
        nullptr,
        [&](Ranks& ranks, Context& context, const TreeOptions&, const RankOptions& of_ranks) {
            std::vector<Argument> arguments = arguments_of(tree);
            arguments.insert(arguments.end(), {{"linking length", cut_at.value()},
                                               flag("relative linking length", cut_at.is_relative())});
            require_same(ranks, RankFunction::fof_of_tree, arguments);
            FofResult result;
            Ranks::alike([&] { describe_cut(cut_at, tree, result); });
            fof_of_tree_over_ranks(ranks, context, tree, of_ranks.ids, edges_within(tree, result.linking_length),
                                   result);
            result.stages = context.take_stages();
            return result;
        },
        [](const FofResult& result) { return result.label_array.size(); });
}

SpanningTree edges_in_order_over_team(const SpanningTree& tree, const Execution& execution) {
    return over_team(
        TreeOptions{execution}, [&] { require_part(tree, execution); }, nullptr,
        [&](Ranks& ranks, Context& context, const TreeOptions&, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::edges_in_order, arguments_of(tree));
            SpanningTree edges = edges_in_order_over_ranks(ranks, context, tree, of_ranks.ids).tree;
            edges.stages = context.take_stages();
            return edges;
        },
        [](const SpanningTree& edges) { return edges.count(); });
}

MergesOverTeam merges_over_team(const SpanningTree& tree, const Execution& execution) {
    return over_team(
        TreeOptions{execution}, [&] { require_part(tree, execution); }, nullptr,
        [&](Ranks& ranks, Context& context, const TreeOptions&, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::hierarchy, arguments_of(tree));
            MergesOverTeam result;
            EdgesInOrder edges = edges_in_order_over_ranks(ranks, context, tree, of_ranks.ids);
            result.merges = merges_over_ranks(ranks, context, edges.places(), tree.points());
            result.edges = std::move(edges.tree);
            result.stages = context.take_stages();
            return result;
        },
        [](const MergesOverTeam& result) { return std::ssize(result.merges); });
}

LevelsOverTeam levels_over_team(const SpanningTree& tree, std::span<const LinkingLength> lengths,
                                const FofLadderOptions& options) {
    return over_team(
        options,
        [&] {
            require_part(tree, options.execution);
            check_ladder_of_tree(lengths, options);
        },
        nullptr,
        [&](Ranks& ranks, Context& context, const FofLadderOptions&, const RankOptions& of_ranks) {
            std::vector<Argument> arguments = arguments_of(tree);
            const std::vector<Argument> more = arguments_of(lengths, options);
            arguments.insert(arguments.end(), more.begin(), more.end());
            require_same(ranks, RankFunction::fof_ladder, arguments);
            LevelsOverTeam result;
            std::vector<std::int64_t> ends;
            Ranks::alike([&] {
                result.levels = levels_at<FofLevel64>(lengths, SpanningTreeAccess::separation(tree), tree.dtype());
            });
            ranks.agreed([&] {
                for (const FofLevel64& level : result.levels) {
                    ends.push_back(edges_within(tree, level.linking_length));
                }
            });
            list_levels(ranks, context, tree, of_ranks.ids, ends, options.min_members, result.levels);
            result.stages = context.take_stages();
            result.points = SpanningTreeAccess::part(tree).points;
            return result;
        },
        [](const LevelsOverTeam& result) { return result.points; });
}

void check_ladder_over_team(const PointsOrTree& points, std::span<const LinkingLength> lengths,
                            const FofLadderOptions& options) {
    struct Nothing {
        std::optional<Distribution> distribution;
    };
    (void)over_team(
        options,
        [&] {
            check(SpanningTreeCall{points, {options.box, options.engine, options.execution}});
            check_ladder(lengths, options);
        },
        nullptr,
        [&](Ranks& ranks, Context& context, const FofLadderOptions&, const RankOptions&) {
            require_same(ranks, RankFunction::fof_ladder,
                         arguments_about(points.points(), options.box, arguments_of(lengths, options)));
            with_dtype(points.dtype(), [&]<Coordinate T>(T) {
                const SharedPoints<T> shared = share_frame<T>(ranks, context, points.points(), options.box);
                const Separation separation = separation_of(shared.points.frame, shared.ownership.total());
                Ranks::alike([&] { (void)levels_at<FofLevel64>(lengths, separation, points.dtype()); });
            });
            return Nothing();
        },
        [](const Nothing&) { return std::int64_t{0}; });
}

} // namespace kith::detail
