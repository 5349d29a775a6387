// Cuts of a spanning tree over ranks: the groups that its edges up to a length connect.
//
// Each rank joins its points by its edges between them. Of each other edge, the rank of the larger end, which holds it,
// sends the name of that end's component to the rank of the smaller end. That makes a link of two components, which are
// joined and numbered as those of friends of friends (component_forest.hpp, number_components.hpp). Cuts at ascending
// lengths go on from the one before. Source: Gower, Ross (1969), Applied Statistics 18, 54, for the components. Cost:
// close to O(n) a cut, 4 bytes of working memory a point; 16 bytes of message for each edge between ranks.
#pragma once

#include <kith/hierarchy.hpp>

#include "distributed/linked_points.hpp"
#include "distributed/tree_points.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

class TreeCut {
public:
    /// Collective. `ids` are those of this rank's points, or empty.
    TreeCut(Ranks& ranks, Context& context, const SpanningTree& tree, const IntegersView& ids);
    TreeCut(const TreeCut&) = delete;
    TreeCut& operator=(const TreeCut&) = delete;

    /// Collective. Adds this rank's edges up to that one, which is not before that of an earlier cut. Fills the labels
    /// of this rank's points by ascending number. Returns the sizes of the groups of all ranks.
    GroupSizes cut(std::int64_t end, std::span<std::int64_t> labels);

    [[nodiscard]] const TreePoints& points() const { return points_; }
    /// By row: the smallest row of its component on this rank.
    [[nodiscard]] std::span<const std::int32_t> components() const { return linked_.component.span(); }

private:
    void join(std::int64_t end);
    std::vector<ComponentEntry> links(std::int64_t end);

    Ranks& ranks_;
    Context& context_;
    const SpanningTree& tree_;
    TreePoints points_;
    LinkedPoints linked_; ///< component: the parents of a union-find, which are roots between cuts
    std::int64_t joined_ = 0;
};

/// Collective. The groups at a length that the result states: those of this rank's edges up to `end`.
void fof_of_tree_over_ranks(Ranks& ranks, Context& context, const SpanningTree& tree, const IntegersView& ids,
                            std::int64_t end, FofResult& result);

/// Collective. Fills levels, whose lengths are known: those of this rank's edges up to ends[level]. Memory beside them:
/// 8 bytes a point, and 16 for each listed group with a member here.
void list_levels(Ranks& ranks, Context& context, const SpanningTree& tree, const IntegersView& ids,
                 std::span<const std::int64_t> ends, std::int64_t min_members, std::span<FofLevel64> levels);

} // namespace kith::detail
