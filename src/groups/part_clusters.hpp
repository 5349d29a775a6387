// The steps of DBSCAN among the points of one part of a set, such as those of a rank: on the host
// (part_clusters_cpu.hpp) or on a GPU (part_clusters_device.hpp). distributed/dbscan, which joins the parts, does not
// know which.
//
// The host always has the boxes of all nodes and the row of each position, since they tell which points of other parts
// are near. Coordinates stay where points are searched.
#pragma once

#include <kith/progress.hpp>

#include "groups/part_linker.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace kith::detail {

/// What makes a core point: at least this number of points, itself included, within a length in working units.
template <Coordinate T>
struct CoreDensity {
    T squared_length;
    std::int64_t min_samples;
};

template <Coordinate T>
class PartClusters {
public:
    PartClusters() = default;
    PartClusters(const PartClusters&) = delete;
    PartClusters& operator=(const PartClusters&) = delete;
    virtual ~PartClusters() = default;

    /// The tree of points that need not be core points, in memory of the host; coordinates are null if they are on a
    /// GPU. Without planes if there are none. Until core points are taken it holds all points of the part, then those
    /// that are no core points and perhaps others.
    [[nodiscard]] virtual TreeView<T> tree() const = 0;

    /// Flags the core points among all points of the part, by row.
    virtual void flag_core_points(const CoreDensity<T>& density, std::span<std::uint8_t> is_core) = 0;
    /// The same of other points, wherever they are.
    [[nodiscard]] virtual std::vector<std::uint8_t> flag_apart(const NormalizedPoints<T>& points,
                                                               const CoreDensity<T>& density) = 0;

    /// Takes the core points, which these flags tell by row. The flags outlive this.
    virtual void take_core_points(std::span<const std::uint8_t> is_core) = 0;
    /// Links the core points, whose tree it has.
    [[nodiscard]] virtual PartLinker<T>& core_points() = 0;

    /// Finds for each row whose cluster is -1 the lowest cluster of a core point of the part within the length; it
    /// stays -1 without one. `of_core_points` has the cluster of each core point by position, below `clusters`. Called
    /// once, when core points have been linked; there are such rows and core points.
    virtual void find_lowest(T squared_length, const Buffer<std::int32_t>& of_core_points, std::int64_t clusters,
                             std::span<std::int32_t> cluster_of_row) = 0;
    /// The same among other core points, wherever they are, by row.
    virtual void find_lowest_apart(const NormalizedPoints<T>& core_points, T squared_length,
                                   std::span<const std::int32_t> of_core_points, std::int64_t clusters,
                                   std::span<std::int32_t> cluster_of_row) = 0;

    /// What stages of a GPU took, so far; none of the host's, which are the context's.
    [[nodiscard]] virtual StageReports take_stages() { return {}; }
    /// Copied from a GPU so far.
    [[nodiscard]] virtual std::int64_t bytes_to_host() const { return 0; }
};

/// Makes them of points of the host or their GPU, which outlive them.
template <Coordinate T>
using MakePartClusters = std::function<std::unique_ptr<PartClusters<T>>(const NormalizedPoints<T>& points)>;

} // namespace kith::detail
