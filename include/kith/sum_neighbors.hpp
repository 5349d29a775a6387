// Sums over neighbors: densities, means of fields and their gradients, as in smoothed particle hydrodynamics.
//
// Every query sums over its k nearest neighbors, or over those within a radius, weighted by a kernel of that reach; no
// list of neighbors is stored. docs/semantics.md, "Sums over neighbors", has every formula and the order of all
// operations: results have the same bits on every machine and device, for every engine and number of threads. Source:
// Monaghan 1992 (ARA&A 30, 543) for the method; Dehnen and Aly 2012 (MNRAS 425, 1068) for the kernels. Cost: that of
// the neighbor search (knn.hpp, radius.hpp), and some 0.1 us for each query and 32 neighbors on the CPU. Memory:
// results, the search's working copy and, for gradients, one copy of the positions; on a GPU also a copy of masses and
// fields, and one block of rows, of up to 1 GiB.
#pragma once

#include <kith/execution.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/points.hpp>
#include <kith/radius.hpp>
#include <kith/tree.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kith {

/// Shapes of kernels. All vanish beyond their reach h, and integrate to 1 in 2 to 8 dimensions.
enum class SmoothingKernel : std::uint8_t {
    cubic_spline,
    quintic_spline,
    wendland_c2,
    wendland_c4,
    top_hat,  ///< constant; has no gradient
    gaussian, ///< of standard deviation h/3, cut at h
};

/// Names of the kernels in the program and in Python, in the order of SmoothingKernel.
inline constexpr std::array<std::string_view, 6> smoothing_kernel_names{"cubic",       "quintic", "wendland-c2",
                                                                        "wendland-c4", "top-hat", "gaussian"};

/// The k nearest neighbors of a query; the kernel reaches to the last of them.
struct Nearest {
    std::int64_t k;
};
/// The neighbors within a radius, one for all queries or one for each, which is the kernel's reach.
struct Within {
    Radii radii;
};
using Neighborhood = std::variant<Nearest, Within>;

/// What is reported of every field.
struct FieldStatistics {
    bool sum = false; ///< of mass times value times kernel, in units of a density
    bool mean = true; ///< weighted by mass times kernel
    bool variance = false;
    bool least = false;
    bool greatest = false;
    bool gradient = false; ///< of the interpolated field; self-searches only; finds densities first
};

struct SumOptions {
    Box box = {}; ///< of the points; a tree has its own
    SmoothingKernel kernel = SmoothingKernel::cubic_spline;
    bool exclude_self = false;                 ///< leave the query itself out, by index; self-searches only
    std::optional<ScalarsView> masses = {};    ///< of the points, in memory of the host, 0 or more; absent: 1 each
    std::vector<ScalarsView> fields = {};      ///< a number for every point each, in memory of the host
    std::vector<std::string> field_names = {}; ///< in errors; absent: fields[0], fields[1], ...
    FieldStatistics statistics = {};           ///< of the fields
    bool density_gradient = false;
    Engine engine = Engine::automatic;
    Execution execution = {}; ///< on the CPU, also over ranks, or on a GPU of one process
};

/// Of one field, one number per query, or none where it was not asked for.
struct FieldSums {
    std::vector<double> sum;
    std::vector<double> mean;
    std::vector<double> variance;
    std::vector<double> least;
    std::vector<double> greatest;
    std::vector<double> gradient; ///< rows x dimension, row-major
};

/// One number per query, in the order of the queries, float64, in the units of the input. Where there is nothing to
/// sum, sums are 0, means and the like NaN, and the reach of k neighbors infinite; where the reach is 0 the density is
/// infinite, or NaN without any mass.
struct NeighborSums : SearchSummary {
    std::vector<double> density;          ///< sum of mass times kernel
    std::vector<double> reach;            ///< distance of the last neighbor; of searches within a radius empty
    std::vector<std::int64_t> counts;     ///< neighbors within the radius; of k neighbors empty
    std::vector<double> density_gradient; ///< rows x dimension, row-major, at fixed reach; empty unless asked for
    std::vector<FieldSums> fields;        ///< in the order of SumOptions::fields
    /// By k: where densities are infinite or 0 whatever the points, or products with masses lose digits. Else empty.
    std::string_view warning;
};

/// Sums around every point (a point is its own neighbor unless exclude_self), or around every query. A row of fewer
/// than k neighbors is summed as it is. Throws Error: invalid_argument (what knn() and radius_search() refuse; an
/// infinite radius; masses or fields whose number is not that of the points, that are not finite, or misaligned; a
/// negative mass; a gradient with a top hat; a gradient of fields with separate queries), unsupported (a GPU over
/// ranks, an engine without such a search), and as knn() or radius_search(). Over ranks each gets the sums of its own
/// points or queries; masses and fields are those of its own points, of the same types on all.
[[nodiscard]] NeighborSums sum_neighbors(const PointsOrTree& points, const Neighborhood& neighborhood,
                                         const SumOptions& options = {});
[[nodiscard]] NeighborSums sum_neighbors(const PointsOrTree& points, const PointsView& queries,
                                         const Neighborhood& neighborhood, const SumOptions& options = {});

} // namespace kith
