// Exact pair counts: how many pairs of points lie in each bin of distance, in one walk for all bins.
//
// Bins follow docs/semantics.md, "Pair counts": of the separation r; of (rp, pi), across and along a line of sight;
// or of (s, mu). Counts are exact integers, weighted sums exact integers of 128 bits until they are rounded once, so
// they do not depend on threads, instruction sets or devices. Source: the dual-tree algorithm of Gray and Moore (NIPS
// 2000), as a policy of the pair walk of the jz-tree paper, section IV-A. Pairs of nodes whose distances all lie in one
// bin count as the product of their numbers of points; on a GPU one of the nodes is a leaf, of up to 32 points. Cost:
// between O(N) nodes and one comparison per pair within the last edge, undecided edge and vector lane; mean separations
// need the distance of every pair within the last edge. Memory besides the tree: none per pair; with weights 4 bytes
// per point.
#pragma once

#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kith {

/// What pairs are binned by.
enum class PairBinning : std::uint8_t {
    separation, ///< r, the distance
    rp_pi,      ///< rp and pi, the distances across and along the line of sight
    s_mu,       ///< s, the distance, and mu, the cosine of the angle between pair and line of sight, without its sign
};

/// Their names, in the order of PairBinning, as the program and Python use them.
inline constexpr std::array<std::string_view, 3> pair_binning_names{"r", "rp_pi", "s_mu"};

struct PairCountOptions {
    Box box = {}; ///< of the points; a tree has its own
    PairBinning binning = PairBinning::separation;
    /// Edges of pi, in the units of the points, or of mu, from 0 to 1; as the edges of r. Empty for r. Errors name them
    /// pi_edges or mu_edges.
    std::span<const double> second_edges = {};
    int line_of_sight = -1; ///< its axis; -1 is the last one
    /// One weight per point, finite and 0 or more; none: points are counted only. Views of memory of the host.
    std::optional<std::span<const double>> weights = {};
    std::optional<std::span<const double>> other_weights = {}; ///< of the other set
    bool separations = false; ///< also the mean separation of the pairs of each bin; the last edge is then finite
    Engine engine = Engine::automatic;
    Execution execution = {}; ///< on the CPU, also over ranks, or on a GPU of one process
};

struct PairCounts {
    std::vector<std::int64_t> counts; ///< of each bin, row-major: bins of r, rp or s; for each those of pi or mu
    std::vector<double> weighted;     ///< sums of the products of the weights of each bin; empty without weights
    /// Mean of r, rp or s of the pairs of each bin, weighted by their weights; NaN without pairs or weight. Empty
    /// unless asked for.
    std::vector<double> separations;
    std::int64_t vanished_weights = 0; ///< weights above 0 that count as 0, being 2^-31 or less of the power of two at
                                       ///< or below the largest; 0 if a set has no points
    std::vector<double> edges;         ///< rounded to the points' type
    std::vector<double> second_edges;  ///< rounded to the points' type
    int line_of_sight = -1;            ///< its axis, or -1 if pairs are binned by r
    Engine engine = Engine::tree;      ///< algorithm used
    Box box;                           ///< used for the distances, with origins resolved
    std::int64_t wrapped_points = 0;   ///< number of points outside the box, which were wrapped into it (box.hpp)
    StageReports stages;
    std::optional<Distribution> distribution = {}; ///< of the points, if the call ran over ranks: counts are of all
};

/// Counts the pairs of points by distance: unordered pairs of different points. Bin k holds the pairs with
/// edges[k] < distance <= edges[k + 1]; the first also those at 0 if its lower edge is 0. Distances are to the nearest
/// image. Over ranks these are the pairs of the points of all ranks, counted by all, which all get the same result;
/// edges and options are the same on all. Throws Error: invalid_argument (fewer than two edges, edges that descend, are
/// negative, NaN, or above 0 with a square that underflows relative to the largest coordinate or period; second edges
/// for r, or none for the others; edges of mu above 1; with separations a last edge that is infinite, as the type of
/// the points rounds it; a line of sight that is no axis; weights of another number than the points, negative or not
/// finite; other_weights without another set; an invalid box; a box in addition to a tree), invalid_points (points that
/// are not finite, extent over twice the period), too_large (more than 2^31 - 1 points), unsupported (dimension not
/// built, another engine than the tree, a GPU over ranks), out_of_memory, canceled.
[[nodiscard]] PairCounts pair_counts(const PointsOrTree& points, std::span<const double> edges,
                                     const PairCountOptions& options = {});

/// The same for all pairs of a point and one of another set, of the points' type and dimension. The box is that of the
/// points; the other set is wrapped into it. Also throws invalid_argument (another type or dimension) and
/// invalid_points (others too far away), as knn() for queries.
[[nodiscard]] PairCounts pair_counts(const PointsOrTree& points, const PointsView& other, std::span<const double> edges,
                                     const PairCountOptions& options = {});

} // namespace kith
