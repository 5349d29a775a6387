// Calls over ranks about a spanning tree that was found over them: its groups, levels and hierarchy.
#pragma once

#include <kith/hierarchy.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

/// length() is called with the other checks, which one rank may fail.
FofResult fof_of_tree_over_team(const SpanningTree& tree, const Execution& execution,
                                const std::function<LinkingLength()>& length);

SpanningTree edges_in_order_over_team(const SpanningTree& tree, const Execution& execution);

/// Parts of a Hierarchy.
struct MergesOverTeam {
    SpanningTree edges;
    std::vector<Merge64> merges;
    StageReports stages;
    std::optional<Distribution> distribution;
};
MergesOverTeam merges_over_team(const SpanningTree& tree, const Execution& execution);

/// Parts of a FofLadder.
struct LevelsOverTeam {
    std::vector<FofLevel64> levels;
    StageReports stages;
    std::optional<Distribution> distribution;
    std::int64_t points = 0; ///< of this rank
};
LevelsOverTeam levels_over_team(const SpanningTree& tree, std::span<const LinkingLength> lengths,
                                const FofLadderOptions& options);
/// Checks the arguments of a ladder of points, and the points, before they are connected.
void check_ladder_over_team(const PointsOrTree& points, std::span<const LinkingLength> lengths,
                            const FofLadderOptions& options);

} // namespace kith::detail
