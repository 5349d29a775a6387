// HDBSCAN* by definition: core distances by sorting all distances of each point, the tree by all pairs in their order,
// the condensed tree over lists of members, and sums over every member of every cluster. The contract is
// docs/semantics.md, "HDBSCAN*". Cost: n^2 log n, and the square of the number of points for the clusters.
#pragma once

#include "oracle/spanning_tree.hpp"

#include <cstdint>
#include <vector>

namespace kith::oracle {

struct DensityRequest {
    std::int64_t min_samples = 5;
    std::int64_t min_cluster_size = 5;
    bool by_leaves = false;
    double epsilon = 0;
    std::int64_t max_cluster_size = 0; ///< 0: no limit
    bool allow_single_cluster = false;
};

struct DensityCluster {
    std::int32_t parent = -1;
    std::int32_t size = 0;
    std::int32_t label = -1; ///< -1: not selected
    double birth = 0;
    double death = 0;
    double stability = 0;

    friend bool operator==(const DensityCluster&, const DensityCluster&) = default;
};

template <class T>
struct DensityClusters {
    std::vector<T> core_distances;
    std::vector<TreeEdge<T>> edges;
    std::vector<DensityCluster> clusters;
    std::vector<std::int32_t> last_clusters; ///< of each point, which it leaves last
    std::vector<double> lambdas;             ///< at which it does
    std::vector<std::int32_t> labels;
    std::vector<double> probabilities;
    std::vector<double> outlier_scores;
};

template <class T>
DensityClusters<T> hdbscan(const WorkingCopy<T>& points, const DensityRequest& request);

template <class T>
struct Predictions {
    std::vector<std::int32_t> labels;
    std::vector<double> probabilities;
    std::vector<std::int32_t> neighbors; ///< -1: there are no points
    std::vector<T> distances;
};

/// For row-major m x d new points, wrapped and scaled (normalized_queries()).
template <class T>
Predictions<T> predict(const WorkingCopy<T>& points, const DensityClusters<T>& clusters, const DensityRequest& request,
                       const std::vector<T>& new_points);

/// The clusters and labels of a tree that is known.
template <class T>
void condense(DensityClusters<T>& result, const DensityRequest& request);

} // namespace kith::oracle
