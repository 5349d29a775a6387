// DBSCAN: clusters of dense points, and noise.
//
// A core point has at least min_samples points within eps, inclusive, itself included. The connected components of core
// points within eps of each other are the clusters; a point that is not core but within eps of a core point is a border
// point of its cluster; all others are noise. Labels are those of scikit-learn (docs/semantics.md, "DBSCAN"), the same
// for every engine and number of threads. Source: Ester, Kriegel, Sander and Xu, KDD 1996; DBSCAN*: Campello, Moulavi and
// Sander, PAKDD 2013. Cost: close to O(N) in low dimensions; counting stops at min_samples, and nodes of the tree that
// lie within eps as a whole are counted and joined without a look at their points. No lists of neighbors are stored.
// Working memory beside the tree: a byte for each point; for each core point its coordinates and 12 bytes.
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

struct DbscanOptions {
    Box box = {};                      ///< of the points; a tree has its own
    bool star = false;                 ///< DBSCAN*: border points are noise
    Engine engine = Engine::automatic; ///< search algorithm
    Execution execution = {};          ///< CPU only
};

/// Clusters are numbered from 0 by their smallest core index.
struct DbscanSummary {
    std::int64_t clusters = 0;
    std::int64_t core_points = 0;
    std::int64_t noise_points = 0;
    std::vector<std::int32_t> sizes; ///< members of each cluster, border points included
    double eps = 0;                  ///< as used: rounded to the points' type
    Engine engine = Engine::tree;    ///< algorithm used: tree or brute_force
    Box box;                         ///< in which the clusters were found, origins resolved
    StageReports stages;
};

struct DbscanResult : DbscanSummary {
    std::vector<std::int32_t> labels;  ///< cluster of every point, in input order; -1: noise
    std::vector<std::uint8_t> is_core; ///< 1 for core points, else 0, in input order
};

/// The clusters of points. min_samples counts the point itself.
/// Throws Error: invalid_argument (an eps that is negative, NaN, infinite, more than the points' type can express, or
/// above 0 with a square that vanishes beside the largest coordinate or period; min_samples below 1; an invalid box; a
/// box beside a tree; a tree on another device), invalid_points (a point that is not finite, extent over twice the
/// period), too_large (more than 2^31 - 1 points), unsupported (a GPU; dimension not built), out_of_memory, canceled.
[[nodiscard]] DbscanResult dbscan(const PointsOrTree& points, double eps, std::int64_t min_samples,
                                  const DbscanOptions& options = {});

/// The same, writing one label per point to the caller's memory and, unless it is empty, one flag per point to is_core.
/// If the call throws, the contents of both are unspecified. Also throws invalid_argument for memory of another size.
DbscanSummary dbscan_into(std::span<std::int32_t> labels, std::span<std::uint8_t> is_core, const PointsOrTree& points,
                          double eps, std::int64_t min_samples, const DbscanOptions& options = {});

} // namespace kith
