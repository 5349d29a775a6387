// The hierarchy of friends-of-friends groups: which groups join into which, and at which linking length.
//
// Every edge of the minimum spanning tree joins two groups, at its height (spanning_tree.hpp). So the tree alone answers
// for every linking length: the groups at R are those that its edges of height R and less make. Single linkage, the
// dendrogram and hierarchical friends-of-friends are names for the same thing. The contract is docs/semantics.md,
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
#include <span>
#include <vector>

namespace kith {

/// The groups at a linking length, from the spanning tree of the points: the same numbers, labels and sizes as fof() finds,
/// without a search. O(n), in parallel. Throws Error: invalid_argument (a length that fof() refuses), out_of_memory,
/// canceled.
[[nodiscard]] FofResult fof(const SpanningTree& tree, LinkingLength linking_length, const Execution& execution = {});

/// The same, writing one label per point to the caller's memory. Also throws invalid_argument unless there is one label
/// per point.
FofSummary fof_into(std::span<std::int32_t> labels, const SpanningTree& tree, LinkingLength linking_length,
                    const Execution& execution = {});

/// Two clusters that an edge joins. Cluster i, below the number of points n, is point i alone; cluster n + i is what
/// merge i made.
struct Merge {
    std::uint32_t left; ///< the cluster of the smaller number
    std::uint32_t right;
    std::int32_t count; ///< points of both
};

/// The single-linkage hierarchy of points: merge i is that of edge i of the spanning tree, at the height of this edge.
class Hierarchy {
public:
    Hierarchy() = default;

    [[nodiscard]] const SpanningTree& spanning_tree() const noexcept { return tree_; }
    [[nodiscard]] std::span<const Merge> merges() const noexcept { return merges_; }

    /// Writes SciPy's linkage matrix, row-major with n - 1 rows of 4: left, right, height, count; for fcluster(),
    /// dendrogram() and the like. Throws Error: invalid_argument unless there are 4 (n - 1) numbers.
    void write_linkage(std::span<double> numbers) const;

    StageReports stages; ///< of the merges; those of the spanning tree are its own

private:
    friend struct HierarchyAccess;
    SpanningTree tree_;
    std::vector<Merge> merges_;
};

/// The hierarchy of points, or of their spanning tree. Throws Error as spanning_tree().
[[nodiscard]] Hierarchy hierarchy(const PointsOrTree& points, const SpanningTreeOptions& options = {});
[[nodiscard]] Hierarchy hierarchy(SpanningTree tree, const Execution& execution = {});

/// The groups at one of several linking lengths. Groups of min_members and more are listed, in the order of their labels.
struct FofLevel {
    double linking_length = 0; ///< used, in the units of the points, rounded to the points' type
    double volume = 0;         ///< the V of a relative linking length, else 0
    VolumeKind volume_kind = VolumeKind::none;
    std::int64_t groups = 0;                 ///< all, including single points
    std::vector<std::int32_t> sizes;         ///< of the groups listed, non-increasing
    std::vector<std::int32_t> first_members; ///< smallest member index of each
    /// For each, the group of the next level that contains it. Empty at the last level.
    std::vector<std::int32_t> parents;
};

struct FofLadderOptions {
    Box box = {};                      ///< of the points; trees have their own
    std::int64_t min_members = 1;      ///< of the groups that are listed, 1 or more
    Engine engine = Engine::automatic; ///< of the spanning tree
    Execution execution = {};          ///< CPU only
};

/// Friends-of-friends groups at several linking lengths, and how those of one lie within those of the next. Labels of the
/// points are made when they are asked for, so that no level costs memory for every point.
class FofLadder {
public:
    FofLadder() = default;

    [[nodiscard]] std::span<const FofLevel> levels() const noexcept { return levels_; }
    [[nodiscard]] const SpanningTree& spanning_tree() const noexcept { return tree_; }

    /// Labels of all points at a level: those of fof(). Labels of levels()[level].sizes.size() and more are of groups that
    /// are not listed. Throws Error: invalid_argument (no such level; not one label per point), out_of_memory, canceled.
    [[nodiscard]] std::vector<std::int32_t> labels(std::int64_t level, const Execution& execution = {}) const;
    void write_labels(std::span<std::int32_t> labels, std::int64_t level, const Execution& execution = {}) const;

    StageReports stages;

private:
    friend struct HierarchyAccess;
    SpanningTree tree_;
    std::vector<FofLevel> levels_;
};

/// The groups of points, or of their spanning tree, at linking lengths that do not descend. Memory beyond the spanning
/// tree: 12 bytes a point while it runs, and 12 for each group listed. Throws Error: invalid_argument (no length; one that
/// is smaller than the one before; min_members < 1) and as fof() and spanning_tree().
[[nodiscard]] FofLadder fof_ladder(const PointsOrTree& points, std::span<const LinkingLength> linking_lengths,
                                   const FofLadderOptions& options = {});
[[nodiscard]] FofLadder fof_ladder(SpanningTree tree, std::span<const LinkingLength> linking_lengths,
                                   const FofLadderOptions& options = {});

} // namespace kith
