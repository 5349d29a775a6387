// HDBSCAN*: clusters of different densities, from the hierarchy of DBSCAN* at every eps.
//
// The core distance of a point is the smallest eps at which it is a core point of DBSCAN; the mutual reachability
// distance of two points is the largest of their core distances and their distance. The minimum spanning tree in this
// metric, cut at eps, gives the clusters of DBSCAN* at eps. Its hierarchy is condensed to the clusters of
// min_cluster_size points or more, and those that last longest are selected. Edges have a total order, so tree, labels
// and every other number are unique and the same for every engine and number of threads (docs/semantics.md,
// "HDBSCAN*"). Sources: Campello, Moulavi and Sander, PAKDD 2013; outlier scores: Campello, Moulavi, Zimek and Sander,
// TKDD 10 (2015) 5; the options are those of scikit-learn. Cost: close to O(N log N) in low dimensions, plus a search
// for min_samples neighbors.
#pragma once

#include <kith/box.hpp>
#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/tree.hpp>
#include <kith/types.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace kith {

/// Which clusters of the condensed tree are the answer.
enum class ClusterSelection : std::uint8_t {
    excess_of_mass, ///< those of the largest total stability
    leaf,           ///< those without clusters below them: more and smaller ones
};

struct HdbscanOptions {
    std::int64_t min_samples = 0; ///< of a core point, which counts itself; 0: min_cluster_size
    ClusterSelection selection = ClusterSelection::excess_of_mass;
    double selection_epsilon = 0;      ///< clusters born at a smaller distance are joined up to those born at it
    std::int64_t max_cluster_size = 0; ///< largest cluster that excess of mass selects; 0: any
    bool allow_single_cluster = false; ///< all points may be one cluster
    Box box = {};                      ///< of the points; a kith::Tree has its own
    Engine engine = Engine::automatic; ///< search algorithm
    Execution execution = {};          ///< CPU, or in one process a GPU
};

/// A cluster of the condensed tree. Lambda is density, one over the distance: it grows from the root down.
struct CondensedCluster {
    std::int32_t parent = -1; ///< the cluster that split into this one and another; -1: this is the root
    std::int32_t size = 0;    ///< number of points
    std::int32_t label = -1;  ///< of its members, if it is selected; otherwise -1
    double birth = 0;         ///< lambda at which its parent split; 0 for the root
    double death = 0;         ///< largest lambda at which a point leaves it, or a split takes all
    double stability = 0;     ///< sum over its points of the lambda at which they leave it, less birth

    friend bool operator==(const CondensedCluster&, const CondensedCluster&) = default;
};

/// The clusters of min_cluster_size points or more of the hierarchy. Cluster 0 is the root, which holds all points; the
/// number of a cluster is larger than that of its parent. Empty without points.
struct CondensedTree {
    std::vector<CondensedCluster> clusters;
    std::vector<std::int32_t> last_clusters; ///< of each point, the last cluster that it leaves
    std::vector<double> lambdas;             ///< at which it does
};

struct HdbscanResult {
    std::vector<std::int32_t> labels;   ///< cluster of every point, in input order; -1: noise
    std::vector<double> probabilities;  ///< how close to the cluster's densest points each is: 0 (noise) to 1
    std::vector<double> outlier_scores; ///< GLOSH: 0 for the densest points, toward 1 for outliers
    std::vector<std::int64_t> sizes;    ///< members of each cluster; clusters are numbered by smallest member
    std::int64_t noise_points = 0;
    CondensedTree condensed_tree;
    std::vector<double> core_distances; ///< in the units of the points, numbers of their type; infinite if there are
                                        ///< fewer points than min_samples
    /// The spanning tree in ascending order of (mutual reachability distance, distance, smaller, larger index), and the
    /// height of each edge: the smallest eps, a number of the points' type, at which it connects core points.
    std::vector<SpanningEdge> edges;
    std::vector<double> heights;
    std::int64_t min_samples = 0;
    std::int64_t min_cluster_size = 0;
    double selection_epsilon = 0;    ///< of the options
    DType dtype = DType::float32;    ///< of the points
    Engine engine = Engine::tree;    ///< algorithm used: tree or brute_force
    Box box;                         ///< used for the distances, with origins resolved
    std::int64_t wrapped_points = 0; ///< number of points outside the box, which were wrapped into it (box.hpp)
    double shortest_length = 0;      ///< smallest eps above 0 that dbscan() accepts
    double largest = 0;              ///< largest absolute coordinate or period
    UnresolvedEdges unresolved;
    StageReports stages;
    /// Over ranks: labels, probabilities, scores, core distances and the last clusters are those of this rank's points,
    /// clusters and sizes those of all. Edges and heights are on rank 0, with global indices, or places in the order of
    /// ids where points have these.
    std::optional<Distribution> distribution;
    bool has_ids = false; ///< of points over ranks

    [[nodiscard]] std::int64_t points() const noexcept { return static_cast<std::int64_t>(labels.size()); }
    [[nodiscard]] std::int64_t clusters() const noexcept { return static_cast<std::int64_t>(sizes.size()); }

    /// The labels of DBSCAN* at eps, those of dbscan() with star = true and the same min_samples, without a search:
    /// core points are numbered by cluster, all others -1. O(n). Throws Error: invalid_argument (an eps that dbscan()
    /// refuses), unsupported (a GPU, ranks, clusters found over several ranks), out_of_memory, canceled.
    [[nodiscard]] std::vector<std::int32_t> cut(double eps, const Execution& execution = {}) const;
};

/// The clusters of points. Memory: 60 bytes per point for the result, and some 100 during the call. Throws Error:
/// invalid_argument (min_cluster_size below 2; negative min_samples or max_cluster_size; selection_epsilon negative or
/// NaN; an invalid box; a box for a kith::Tree; a tree on another device), invalid_points (a point that is not finite,
/// extent over twice the period), too_large (more than 2^31 - 1 points), unsupported (an engine that does not support
/// HDBSCAN* there; a GPU over ranks; dimension not built), device, out_of_memory, canceled. Over ranks
/// (distributed.hpp): rank 0 needs about 130 bytes for each point of all ranks, and there are at most 2^31 - 1 points.
[[nodiscard]] HdbscanResult hdbscan(const PointsOrTree& points, std::int64_t min_cluster_size,
                                    const HdbscanOptions& options = {});

/// The clusters that new points would join, one number per new point. Distances are in the units of the points, numbers
/// of their type.
struct HdbscanPrediction {
    std::vector<std::int32_t> labels;    ///< cluster that holds the point's neighbor at that density; -1: noise
    std::vector<double> probabilities;   ///< as those of members: 0 (noise) to 1
    std::vector<std::int32_t> neighbors; ///< nearest of the clustered points by mutual reachability distance; -1: none
    std::vector<double> distances;       ///< mutual reachability distance to it; infinite below min_samples points
    StageReports stages;
};

/// Clusters for new points, which change neither clusters nor core distances: the method of the Python package hdbscan
/// (McInnes, Healy and Astels, JOSS 2 (2017) 205), with the exact neighbor of each (docs/semantics.md, "HDBSCAN*"). The
/// points must be those of the clusters, or a kith::Tree of them, which saves the time to build one; boxes are theirs.
/// Coordinates are not compared with those that were clustered.
/// Cost: O(n) for core distances of nodes, and close to O(log n) for each new point and min_samples neighbors. Throws
/// Error: invalid_argument (points of another number, type or box than those of the clusters; new points of another
/// type or dimension, or too far away), invalid_points (a new point that is not finite), unsupported (a tree of another
/// engine; a GPU or ranks), out_of_memory, canceled.
[[nodiscard]] HdbscanPrediction approximate_predict(const HdbscanResult& clusters, const PointsOrTree& points,
                                                    const PointsView& new_points, const Execution& execution = {});

} // namespace kith
