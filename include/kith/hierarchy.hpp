// The hierarchy of friends-of-friends groups: which groups merge, and at which linking length.
//
// Every edge of the minimum spanning tree merges two groups at its height (spanning_tree.hpp). So the tree determines
// the groups at every linking length R: the points that its edges of height R or less connect. Single linkage,
// dendrogram and hierarchical friends-of-friends are other names of this hierarchy. The contract is docs/semantics.md,
// "Hierarchy of groups". Sources: Gower, Ross (1969), Applied Statistics 18, 54; the layout is that of SciPy's linkage
// matrix. Cost: close to O(n) beyond the spanning tree.
//
// Over ranks: groups, levels and hierarchies of a spanning tree that was found over ranks are found over as many, with
// an execution over() them and the ids that the points had. Each rank has the labels of its own points. Besides the
// errors of one process and of every call over ranks (distributed.hpp): invalid_argument for a tree that was found over
// another number of ranks or by one process, that edges_in_order() returned, or whose points had other ids.
#pragma once

#include <kith/box.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/progress.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// The groups at a linking length, from the spanning tree of the points: the same labels, sizes and number of groups as
/// those of fof(), without a search. O(n), in parallel. Over ranks collective: 64-bit labels of this rank's points;
/// only components of a rank that other ranks continue are sent. Throws Error: invalid_argument (a length that fof()
/// refuses), out_of_memory, canceled.
[[nodiscard]] FofResult fof(const SpanningTree& tree, LinkingLength linking_length, const Execution& execution = {});

/// The same, but writes the labels to the caller's memory. Also throws invalid_argument unless there is memory for one
/// label per point, unsupported over ranks.
FofSummary fof_into(std::span<std::int32_t> labels, const SpanningTree& tree, LinkingLength linking_length,
                    const Execution& execution = {});

/// Two clusters that an edge merges. Cluster i < n, where n is the number of points, is point i alone; cluster n + i is
/// the result of merge i.
struct Merge {
    std::uint32_t left; ///< the cluster with the smaller number
    std::uint32_t right;
    std::int32_t count; ///< number of points of both clusters
};

/// The same over ranks. Cluster i < n is the point of global index i, or the one with the i-th smallest id.
struct Merge64 {
    std::int64_t left;
    std::int64_t right;
    std::int64_t count;
};

/// The single-linkage hierarchy of points: merge i belongs to edge i of the spanning tree and happens at its height.
/// Over ranks, each has consecutive merges, those of edges_in_order(); the parts, in the order of ranks, are the
/// hierarchy of one process.
class Hierarchy {
public:
    Hierarchy() = default;

    /// Over ranks the part that spanning_tree() returned, for cuts.
    [[nodiscard]] const SpanningTree& spanning_tree() const noexcept { return tree_; }
    /// Throws Error: invalid_argument if the hierarchy was found over ranks.
    [[nodiscard]] std::span<const Merge> merges() const;
    /// Those of this rank. Throws Error: invalid_argument unless the hierarchy was found over ranks.
    [[nodiscard]] std::span<const Merge64> merges64() const;
    /// The edges of these merges, one for each. Throws Error: invalid_argument unless the hierarchy was found over
    /// ranks.
    [[nodiscard]] const SpanningTree& merged_edges() const;

    /// Writes SciPy's linkage matrix for fcluster(), dendrogram() and similar functions: n - 1 rows of left, right,
    /// height, count, row-major; over ranks the rows of this rank's merges. Throws Error: invalid_argument unless
    /// `numbers` has 4 elements for each merge.
    void write_linkage(std::span<double> numbers) const;

    StageReports stages; ///< cost of the merges; the cost of the spanning tree is in spanning_tree().stages
    std::optional<Distribution> distribution; ///< of the merges, if the hierarchy was found over ranks

private:
    friend struct HierarchyAccess;
    void require_width(bool over_ranks) const;

    SpanningTree tree_;
    SpanningTree merged_edges_; ///< over ranks
    std::vector<Merge> merges_;
    std::vector<Merge64> merges64_; ///< over ranks
};

/// The hierarchy of points, or of a spanning tree, which may be found on a GPU; the CPU merges. Over ranks rank 0 makes
/// all merges, since each depends on those before: the others send it their edges in blocks and get back the merges,
/// 40 bytes for each. Rank 0 needs 8 bytes for each point of all ranks, 16 for more than 2^31 - 1 points. Throws Error
/// as spanning_tree().
[[nodiscard]] Hierarchy hierarchy(const PointsOrTree& points, const SpanningTreeOptions& options = {});
[[nodiscard]] Hierarchy hierarchy(SpanningTree tree, const Execution& execution = {});

/// One of several linking lengths.
struct FofLevelLength {
    double linking_length = 0; ///< in the units of the points, rounded to the points' type
    double volume = 0;         ///< the V of a relative linking length, otherwise 0
    VolumeKind volume_kind = VolumeKind::none;
    std::int64_t groups = 0; ///< number of all groups, including single points
};

/// The groups at one of several linking lengths. Groups with at least min_members members are listed, in the order of
/// their labels.
struct FofLevel : FofLevelLength {
    std::vector<std::int32_t> sizes;         ///< of the listed groups, non-increasing
    std::vector<std::int32_t> first_members; ///< smallest member index of each listed group
    /// For each listed group, the group of the next level that contains it. Empty at the last level.
    std::vector<std::int32_t> parents;
};

/// The same over ranks, which divide the listed groups: each has consecutive ones, as many as any other or one more.
struct FofLevel64 : FofLevelLength {
    std::int64_t listed = 0;                 ///< number of listed groups of all ranks
    std::int64_t first_group = 0;            ///< label of the first one of this rank
    std::vector<std::int64_t> sizes;         ///< of this rank's groups
    std::vector<std::int64_t> first_members; ///< global indices, or ids
    std::vector<std::int64_t> parents;
};

struct FofLadderOptions {
    Box box = {};                      ///< of the points; a kith::Tree or a spanning tree has its own
    std::int64_t min_members = 1;      ///< smallest size of a listed group, 1 or more
    Engine engine = Engine::automatic; ///< of the spanning tree
    Execution execution = {};          ///< CPU only; may be over ranks
};

/// Friends-of-friends groups at several linking lengths, and how the groups of one level are nested in those of the
/// next. Labels of points are computed on request, so that levels need no memory per point.
class FofLadder {
public:
    FofLadder() = default;

    /// Throws Error: invalid_argument if the levels were found over ranks.
    [[nodiscard]] std::span<const FofLevel> levels() const;
    /// With the groups of this rank. Throws Error: invalid_argument unless the levels were found over ranks.
    [[nodiscard]] std::span<const FofLevel64> levels64() const;
    [[nodiscard]] const SpanningTree& spanning_tree() const noexcept { return tree_; }

    /// Labels of all points at a level, as fof() returns them. Labels of levels()[level].sizes.size() or more belong to
    /// groups that are not listed. Throws Error: invalid_argument (no such level; memory for another number of labels),
    /// out_of_memory, canceled.
    [[nodiscard]] std::vector<std::int32_t> labels(std::int64_t level, const Execution& execution = {}) const;
    void write_labels(std::span<std::int32_t> labels, std::int64_t level, const Execution& execution = {}) const;
    /// Collective: the labels of this rank's points at a level of ranks.
    [[nodiscard]] std::vector<std::int64_t> labels64(std::int64_t level, const Execution& execution) const;

    StageReports stages;
    std::optional<Distribution> distribution; ///< of the points, if the levels were found over ranks

private:
    friend struct HierarchyAccess;
    void require_width(bool over_ranks) const;

    SpanningTree tree_;
    std::vector<FofLevel> levels_;
    std::vector<FofLevel64> levels64_; ///< over ranks
};

/// The groups of points, or of a spanning tree, at linking lengths in non-decreasing order. Memory beyond the spanning
/// tree: 12 bytes per point during the call, and 12 bytes for each listed group; over ranks 24 bytes for each group
/// that this rank lists. Throws Error: invalid_argument (no
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
