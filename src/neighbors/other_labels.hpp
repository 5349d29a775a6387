// k nearest neighbors among the points of other labels than the query's, in a plane tree.
//
// Every query walks down the planes by itself (point_search.hpp). A node knows the lowest and the highest label of its
// points: if both are the query's, it is left out. Of a leaf the points of other labels become candidates. Nothing else
// changes, so that rows are those of a search among these points alone, bit for bit. The queries are in the order of a
// tree of their own, so that those that follow each other read the same leaves.
#pragma once

#include "neighbors/search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// Of the points of a node.
struct LabelRange {
    std::int32_t lowest;
    std::int32_t highest;
};

/// The labels of sorted points and of their nodes.
struct SourceLabels {
    const std::int32_t* of_points;
    std::array<const LabelRange*, max_planes> of_nodes;
};

template <Coordinate T>
struct LabelSearch {
    const PlaneTree<T>* sources; ///< not empty
    const PointSet<T>* receivers;
    SourceLabels labels;
    const std::int32_t* labels_of_queries; ///< by original index
    const KnnRequest<T>* request;
    RowSink<T>* sink;
};

/// Brings the rows of some receivers to the sink.
void search_other_labels(const LabelSearch<float>& search, std::int64_t begin, std::int64_t end);
void search_other_labels(const LabelSearch<double>& search, std::int64_t begin, std::int64_t end);

/// Brings the rows of all receivers to the sink, which may be the points of the sources themselves.
template <Coordinate T>
void search_other_labels(Context& context, const PlaneTree<T>& sources, const PointSet<T>& receivers,
                         std::span<const std::int32_t> labels, std::span<const std::int32_t> labels_of_queries,
                         const KnnRequest<T>& request, RowSink<T>& sink) {
    constexpr std::int64_t grain = 1 << 14;
    constexpr std::int64_t numbers_of_block = 1 << 14; // of neighbors, as long as it has a row
    const std::int64_t count = sources.points.count;
    Buffer<std::int32_t> of_points(context.memory_tracker(), count);
    parallel_each(count, grain, [&](std::int64_t point) { of_points[point] = labels[sources.points.indices[point]]; });
    const std::vector<Buffer<LabelRange>> of_nodes = node_attributes<LabelRange>(
        context, sources.view(),
        [&](std::int32_t point) {
            return LabelRange{of_points[point], of_points[point]};
        },
        [](const LabelRange& a, const LabelRange& b) {
            return LabelRange{std::min(a.lowest, b.lowest), std::max(a.highest, b.highest)};
        });
    LabelSearch<T> search{&sources, &receivers, {of_points.data(), {}}, labels_of_queries.data(), &request, &sink};
    std::transform(of_nodes.begin(), of_nodes.end(), search.labels.of_nodes.begin(),
                   [](const Buffer<LabelRange>& of_plane) { return of_plane.data(); });
    context.expect(receivers.count);
    parallel_blocks(receivers.count, std::clamp<std::int64_t>(numbers_of_block / request.k, 1, 256),
                    [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                        search_other_labels(search, begin, end);
                        context.done(end - begin);
                    });
}

} // namespace kith::detail
