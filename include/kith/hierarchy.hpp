// The hierarchy of friends-of-friends groups: which groups merge, and at which linking length.
//
// Every edge of the minimum spanning tree merges two groups at its height (spanning_tree.hpp). So the tree determines
// the groups at every linking length R: the points that its edges of height R or less connect. Single linkage,
// dendrogram and hierarchical friends-of-friends are other names of this hierarchy. The contract is docs/semantics.md,
// "Hierarchy of groups". Sources: Gower, Ross (1969), Applied Statistics 18, 54; the layout is that of SciPy's linkage
// matrix. Cost: close to O(n) beyond the spanning tree.
#pragma once

#include <kith/box.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/progress.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// The groups at a linking length, from the spanning tree of the points: the same labels, sizes and number of groups as
/// those of fof(), without a search. O(n), in parallel. Throws Error: invalid_argument (a length that fof() refuses),
/// out_of_memory, canceled.
[[nodiscard]] FofResult fof(const SpanningTree& tree, LinkingLength linking_length, const Execution& execution = {});

/// The same, but writes the labels to the caller's memory. Also throws invalid_argument unless there is memory for one
/// label per point.
FofSummary fof_into(std::span<std::int32_t> labels, const SpanningTree& tree, LinkingLength linking_length,
                    const Execution& execution = {});

/// Two clusters that an edge merges. Cluster i < n, where n is the number of points, is point i alone; cluster n + i is
/// the result of merge i.
struct Merge {
    std::uint32_t left; ///< the cluster with the smaller number
    std::uint32_t right;
    std::int32_t count; ///< number of points of both clusters
};

/// The single-linkage hierarchy of points: merge i belongs to edge i of the spanning tree and happens at its height.
class Hierarchy {
public:
    Hierarchy() = default;

    [[nodiscard]] const SpanningTree& spanning_tree() const noexcept { return tree_; }
    [[nodiscard]] std::span<const Merge> merges() const noexcept { return merges_; }

    /// Writes SciPy's linkage matrix for fcluster(), dendrogram() and similar functions: n - 1 rows of left, right,
    /// height, count, row-major. Throws Error: invalid_argument unless `numbers` has 4 (n - 1) elements.
    void write_linkage(std::span<double> numbers) const;

    StageReports stages; ///< cost of the merges; the cost of the spanning tree is in spanning_tree().stages

private:
    friend struct HierarchyAccess;
    SpanningTree tree_;
    std::vector<Merge> merges_;
};

/// The hierarchy of points, or of a spanning tree, which may be found on a GPU; the CPU merges. Throws Error as
/// spanning_tree().
[[nodiscard]] Hierarchy hierarchy(const PointsOrTree& points, const SpanningTreeOptions& options = {});
[[nodiscard]] Hierarchy hierarchy(SpanningTree tree, const Execution& execution = {});

/// The groups at one of several linking lengths. Groups with at least min_members members are listed, in the order of
/// their labels.
struct FofLevel {
    double linking_length = 0; ///< in the units of the points, rounded to the points' type
    double volume = 0;         ///< the V of a relative linking length, otherwise 0
    VolumeKind volume_kind = VolumeKind::none;
    std::int64_t groups = 0;                 ///< number of all groups, including single points
    std::vector<std::int32_t> sizes;         ///< of the listed groups, non-increasing
    std::vector<std::int32_t> first_members; ///< smallest member index of each listed group
    /// For each listed group, the group of the next level that contains it. Empty at the last level.
    std::vector<std::int32_t> parents;
};

struct FofLadderOptions {
    Box box = {};                      ///< of the points; a kith::Tree or a spanning tree has its own
    std::int64_t min_members = 1;      ///< smallest size of a listed group, 1 or more
    Engine engine = Engine::automatic; ///< of the spanning tree
    Execution execution = {};          ///< CPU only
};

/// Friends-of-friends groups at several linking lengths, and how the groups of one level are nested in those of the
/// next. Labels of points are computed on request, so that levels need no memory per point.
class FofLadder {
public:
    FofLadder() = default;

    [[nodiscard]] std::span<const FofLevel> levels() const noexcept { return levels_; }
    [[nodiscard]] const SpanningTree& spanning_tree() const noexcept { return tree_; }

    /// Labels of all points at a level, as fof() returns them. Labels of levels()[level].sizes.size() or more belong to
    /// groups that are not listed. Throws Error: invalid_argument (no such level; memory for another number of labels),
    /// out_of_memory, canceled.
    [[nodiscard]] std::vector<std::int32_t> labels(std::int64_t level, const Execution& execution = {}) const;
    void write_labels(std::span<std::int32_t> labels, std::int64_t level, const Execution& execution = {}) const;

    StageReports stages;

private:
    friend struct HierarchyAccess;
    SpanningTree tree_;
    std::vector<FofLevel> levels_;
};

/// The groups of points, or of a spanning tree, at linking lengths in non-decreasing order. Memory beyond the spanning
/// tree: 12 bytes per point during the call, and 12 bytes for each listed group. Throws Error: invalid_argument (no
/// linking length; one that is smaller than the one before it; min_members < 1) and as fof() and spanning_tree().
[[nodiscard]] FofLadder fof_ladder(const PointsOrTree& points, std::span<const LinkingLength> linking_lengths,
                                   const FofLadderOptions& options = {});
[[nodiscard]] FofLadder fof_ladder(SpanningTree tree, std::span<const LinkingLength> linking_lengths,
                                   const FofLadderOptions& options = {});
[[nodiscard]] inline FofLadder fof_ladder(const PointsOrTree& points,
                                          std::initializer_list<LinkingLength> linking_lengths,
                                          const FofLadderOptions& options = {}) {
    return fof_ladder(points, std::span(linking_lengths.begin(), linking_lengths.size()), options);
}
[[nodiscard]] inline FofLadder fof_ladder(SpanningTree tree, std::initializer_list<LinkingLength> linking_lengths,
                                          const FofLadderOptions& options = {}) {
    return fof_ladder(std::move(tree), std::span(linking_lengths.begin(), linking_lengths.size()), options);
}

} // namespace kith
