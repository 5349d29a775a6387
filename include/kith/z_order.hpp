// Points along the z-order curve, in which points that are near each other mostly follow each other.
//
// Within one process it is the order of a kith::Tree. Over ranks each rank gets a part of the order of all points, of
// the same number or weight of points: a domain decomposition, for which gather() fetches the columns of the points.
// The order is that of docs/semantics.md, "z-order", bit-identical on every machine and for every number of ranks.
// Source: jz-tree paper, sections II-A and III-C (arXiv:2604.05885). Cost: O(N); over ranks every coordinate is sent
// once, and 16 bytes per rank in each of some ten rounds that find the parts.
#pragma once

#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/index_array.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace kith {

struct ZOrderOptions {
    Box box = {};             ///< of the points, which are ordered as they lie within it
    Execution execution = {}; ///< on the CPU, or over ranks, of which RankOptions::weights and imbalance are used
};

struct ZOrder {
    /// Original indices of the points in z-order: of all points, or over ranks this rank's part of them, as global
    /// indices or ids, so that the parts of ranks 0, 1, ... are the order of all.
    IndexArray index_array;
    Box box; ///< with the origins of all periodic axes resolved
    /// Number of points outside the box, which were wrapped into it (box.hpp).
    std::int64_t wrapped_points = 0;
    StageReports stages;
    std::optional<Distribution> distribution; ///< of the order, if it was found over ranks

    /// The indices. Throw Error: invalid_argument (index_array holds the other width: 64 bits over ranks, else 32).
    [[nodiscard]] std::span<const std::int32_t> indices() const { return index_array.as_int32(); }
    [[nodiscard]] std::span<const std::int64_t> indices64() const { return index_array.as_int64(); }
};

/// Coincident points follow each other by index. Over ranks the parts differ as RankOptions::imbalance says, unless
/// more points than that agree in their first 126 bits along the curve, such as coincident ones: these are in one part.
/// Memory: a tree of the points; over ranks also three copies of the points while they travel, and 32 bytes per point.
/// Throws Error: invalid_argument (an invalid box, weights or imbalance), invalid_points (a point that is not finite,
/// extent over twice the period), too_large (more than 2^31 - 1 points in one process or part), unsupported (a
/// dimension that is not built; a GPU, where a kith::Tree has the order), out_of_memory, canceled.
[[nodiscard]] ZOrder z_order(const PointsView& points, const ZOrderOptions& options = {});

} // namespace kith
