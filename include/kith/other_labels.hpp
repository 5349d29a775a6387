// Exact k nearest neighbors of other labels: the nearest points of another group, class or halo.
//
// A label is a number of each point and of each query. Points whose label is that of the query are left out; all else
// is as for knn(): distances, the order (distance, original index), boxes, rows. Labels are compared as numbers only,
// so that -1 is a label like any other. A point is never its own neighbor. Method: every query walks down the planes of
// the tree, the nearest node first, and leaves out nodes whose points all have its label. Cost: close to O(n k) in low
// dimensions, a few microseconds for each query, and 12 bytes for each point.
#pragma once

#include <kith/knn.hpp>

#include <cstdint>
#include <span>

namespace kith {

/// The k nearest points of another label, of every point: one label per point. On the CPU, within one process, by
/// Engine::tree. Throws Error: as knn(), and invalid_argument (another number of labels, z_order), unsupported (another
/// engine, a GPU, ranks).
[[nodiscard]] KnnResult knn_other_labels(const PointsOrTree& points, std::span<const std::int32_t> labels,
                                         std::int64_t k, const KnnOptions& options = {});
/// The same of every query, with one label per query.
[[nodiscard]] KnnResult knn_other_labels(const PointsOrTree& points, std::span<const std::int32_t> labels,
                                         const PointsView& queries, std::span<const std::int32_t> labels_of_queries,
                                         std::int64_t k, const KnnOptions& options = {});

/// The same two searches, written to the caller's arrays as by knn_into().
SearchSummary knn_other_labels_into(const NeighborRows& rows, const PointsOrTree& points,
                                    std::span<const std::int32_t> labels, std::int64_t k,
                                    const KnnOptions& options = {});
SearchSummary knn_other_labels_into(const NeighborRows& rows, const PointsOrTree& points,
                                    std::span<const std::int32_t> labels, const PointsView& queries,
                                    std::span<const std::int32_t> labels_of_queries, std::int64_t k,
                                    const KnnOptions& options = {});

} // namespace kith
