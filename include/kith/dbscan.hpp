// DBSCAN: clusters of dense points, and noise.
//
// A core point has at least min_samples points, including itself, at a distance of eps or less. Clusters are the
// connected components of core points within eps of each other. A point that is not a core point but within eps of one
// is a border point of its cluster; all other points are noise. Labels are those of scikit-learn (docs/semantics.md,
// "DBSCAN"), the same for every engine, device and number of threads. Source: Ester, Kriegel, Sander and Xu, KDD 1996;
// DBSCAN*: Campello, Moulavi and Sander, PAKDD 2013. Cost: close to O(N) in low dimensions: counting stops at
// min_samples, and tree nodes that lie entirely within eps are counted and joined without visiting their points. No
// neighbor lists are stored. Working memory besides the tree: one byte per point; the coordinates and 12 bytes per core
// point (on a GPU 5 bytes per point, and the coordinates and 16 bytes per core point).
#pragma once

#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/index_array.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith {

struct DbscanOptions {
    Box box = {};                      ///< of the points; a kith::Tree has its own
    bool star = false;                 ///< DBSCAN*: border points are noise
    Engine engine = Engine::automatic; ///< search algorithm
    Execution execution = {};          ///< on a GPU and over ranks (distributed.hpp) only Engine::tree
};

/// Clusters are numbered from 0 by their smallest core index. Over ranks all numbers and sizes are those of all ranks.
struct DbscanSummary {
    std::int64_t clusters = 0;
    std::int64_t core_points = 0;
    std::int64_t noise_points = 0;
    std::vector<std::int64_t> sizes; ///< members of each cluster, including border points
    double eps = 0;                  ///< rounded to the points' type
    Engine engine = Engine::tree;    ///< algorithm used: tree or brute_force
    Box box;                         ///< used for the distances, with origins resolved
    std::int64_t wrapped_points = 0; ///< number of points outside the box, which were wrapped into it (box.hpp)
    StageReports stages;
    std::optional<Distribution> distribution = {}; ///< of the labels, if the clusters were found over ranks
};

struct DbscanResult : DbscanSummary {
    IndexArray label_array;            ///< cluster of every point, in input order; -1: noise
    std::vector<std::uint8_t> is_core; ///< 1 for core points, else 0, in input order

    /// The labels. Throw Error: invalid_argument (label_array holds the other width).
    [[nodiscard]] std::span<const std::int32_t> labels() const { return label_array.as_int32(); }
    [[nodiscard]] std::span<const std::int64_t> labels64() const { return label_array.as_int64(); }
};

/// The clusters of points. min_samples counts the point itself. Throws Error: invalid_argument (an eps that is
/// negative, NaN, infinite, too large for the points' type, or so small that its square underflows relative to the
/// largest coordinate or period; min_samples below 1; an invalid box; a box for a kith::Tree; a tree on another
/// device), invalid_points (a point that is not finite, extent over twice the period), too_large (more than 2^31 - 1
/// points), unsupported (an engine that does not support DBSCAN, or not on a GPU or over ranks; dimension not built; a
/// GPU without CUDA in this build), device, out_of_memory, canceled.
[[nodiscard]] DbscanResult dbscan(const PointsOrTree& points, double eps, std::int64_t min_samples,
                                  const DbscanOptions& options = {});

/// The same, but writes one label per point to `labels` and, unless `is_core` is empty, one flag per point to it; on a
/// GPU either may be in the host's memory or in that GPU's. If the call throws, the contents of both are unspecified.
/// Also throws invalid_argument for memory of another size.
DbscanSummary dbscan_into(std::span<std::int32_t> labels, std::span<std::uint8_t> is_core, const PointsOrTree& points,
                          double eps, std::int64_t min_samples, const DbscanOptions& options = {});

} // namespace kith
