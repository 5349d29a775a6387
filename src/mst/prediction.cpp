#include "mst/prediction.hpp"

#include "mst/cluster_selection.hpp"
#include "mst/height.hpp"
#include "mst/reachability_search.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/query_tree.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail {

namespace {

/// Heights as the squares of working lengths.
template <Coordinate T>
class HeightSquares {
public:
    explicit HeightSquares(const Frame<T>& frame) : frame_(frame), height_of_(frame) {}

    [[nodiscard]] T of_height(double height) const { return frame_.squared_radius(height); }
    [[nodiscard]] T of_length(T squared) const { return of_height(height_of(squared)); }
    /// Of a squared length, or of the square of a height.
    [[nodiscard]] double height_of(T squared) const { return static_cast<double>(height_of_(squared)); }

private:
    const Frame<T>& frame_;
    Heights<T> height_of_;
};

/// Core distances of the clustered points, and the search among these.
template <Coordinate T>
class ClusteredPoints {
public:
    ClusteredPoints(Context& context, const PlaneTree<T>& tree, std::span<const double> core_distances)
        : squares(tree.points.frame), core_(context.memory_tracker(), tree.points.count),
          by_index_(context.memory_tracker(), tree.points.count) {
        parallel_each(tree.points.count, 1 << 14, [&](std::int64_t i) {
            const std::int32_t index = tree.points.indices[i];
            core_[i] = by_index_[index] = squares.of_height(core_distances[index]);
        });
        search_.emplace(context, tree.view(), tree.points.frame, core_.data());
    }

    /// Takes all points, at the heights of their lengths.
    struct AtHeights : AllPoints {
        const HeightSquares<T>& squares;

        [[nodiscard]] T reach_of(T squared) const { return squares.of_length(squared); }
    };

    /// The nearest in a row of points by (squared length, index).
    [[nodiscard]] ReachableNeighbor<T> first_of_row(T core, const std::int32_t* indices, const T* squared,
                                                    std::int64_t k) const {
        ReachableNeighbor<T> first;
        for (std::int64_t i = 0; i < k && indices[i] >= 0; ++i) {
            search_->offer(first, core, by_index_[indices[i]], squared[i], indices[i], AtHeights{{}, squares});
        }
        return first;
    }
    /// The nearest of all.
    [[nodiscard]] ReachableNeighbor<T> nearest(const typename ReachabilitySearch<T>::Position& at, T core,
                                               const ReachableNeighbor<T>& found,
                                               std::vector<typename ReachabilitySearch<T>::Near>& heap) const {
        return search_->nearest(at, core, found, AtHeights{{}, squares}, heap);
    }

    const HeightSquares<T> squares;

private:
    Buffer<T> core_; ///< squares of heights, by position
    Buffer<T> by_index_;
    std::optional<ReachabilitySearch<T>> search_;
};

/// Takes the rows of new points.
template <Coordinate T>
class PredictionSink final : public RowSink<T> {
public:
    PredictionSink(const ClusteredPoints<T>& points, const PlaneTree<T>& new_points, const HdbscanResult& clusters,
                   HdbscanPrediction& result)
        : points_(points), new_points_(new_points), clusters_(clusters), result_(result) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            find(block.first + row, block.indices + row * block.k, block.distances + row * block.k, block.k);
        }
    }

private:
    void find(std::int64_t position, const std::int32_t* indices, const T* squared, std::int64_t k) {
        const std::int64_t others = clusters_.min_samples - 1;
        const T core_length = others == 0  ? T(0)
                              : others > k ? std::numeric_limits<T>::infinity()
                                           : squared[others - 1];
        const T core = points_.squares.of_length(core_length);
        ReachableNeighbor<T> found = points_.first_of_row(core, indices, squared, k);
        if (found.reach > core) { // or else points outside the row, which are no nearer, come later
            typename ReachabilitySearch<T>::Position at{};
            for (int axis = 0; axis < new_points_.points.dimension(); ++axis) {
                at[axis] = new_points_.points.axis(axis)[position];
            }
            found = points_.nearest(at, core, found, heaps_.local());
        }
        describe(new_points_.points.indices[position], found.index, points_.squares.height_of(found.reach));
    }

    void describe(std::int32_t row, std::int32_t neighbor, double height) {
        result_.neighbors[row] = neighbor;
        result_.distances[row] = height;
        const double lambda = lambda_of(height);
        const std::int32_t cluster = lambda > 0 ? selected(neighbor, height, lambda) : -1;
        if (cluster >= 0) {
            const CondensedCluster& joined = clusters_.condensed_tree.clusters[cluster];
            result_.labels[row] = joined.label;
            result_.probabilities[row] = joined.death > 0 ? std::min(lambda, joined.death) / joined.death : 1;
        }
    }

    /// The selected cluster that a point joins with its neighbor, -1 for noise.
    [[nodiscard]] std::int32_t selected(std::int32_t neighbor, double height, double lambda) const {
        const CondensedTree& tree = clusters_.condensed_tree;
        std::int32_t cluster = tree.last_clusters[neighbor];
        if (lambda < tree.lambdas[neighbor]) {
            while (cluster > 0 && tree.clusters[cluster].birth >= lambda) {
                cluster = tree.clusters[cluster].parent;
            }
        }
        while (cluster >= 0 && tree.clusters[cluster].label < 0) {
            cluster = tree.clusters[cluster].parent;
        }
        const bool is_dense = cluster != 0 || (clusters_.selection_epsilon > 0 ? height <= clusters_.selection_epsilon
                                                                               : lambda >= tree.clusters[0].death);
        return is_dense ? cluster : -1;
    }

    const ClusteredPoints<T>& points_;
    const PlaneTree<T>& new_points_;
    const HdbscanResult& clusters_;
    HdbscanPrediction& result_;
    PerThread<std::vector<typename ReachabilitySearch<T>::Near>> heaps_;
};

} // namespace

template <Coordinate T>
void predict(Context& context, const PlaneTree<T>& tree, const TreeShape& shape, const NormalizedPoints<T>& new_points,
             const HdbscanResult& clusters, HdbscanPrediction& result) {
    const std::int64_t count = tree.points.count;
    const PlaneTree<T> receivers =
        build_plane_tree<T>(context, new_points, query_tree_shape(shape, count, new_points.view.count()));
    context.stage("search", [&] {
        const ClusteredPoints<T> points(context, tree, clusters.core_distances);
        const std::int64_t k = std::clamp<std::int64_t>(clusters.min_samples - 1, 1, count);
        KnnRequest<T> request{k, false, {}, ReportScale<T>(tree.points.frame, true)};
        request.report.power = PowerOfTwo<T>(0);
        PredictionSink<T> sink(points, receivers, clusters, result);
        search_tree(context, receivers, tree, request, sink);
    });
}

template void predict(Context&, const PlaneTree<float>&, const TreeShape&, const NormalizedPoints<float>&,
                      const HdbscanResult&, HdbscanPrediction&);
template void predict(Context&, const PlaneTree<double>&, const TreeShape&, const NormalizedPoints<double>&,
                      const HdbscanResult&, HdbscanPrediction&);

} // namespace kith::detail
