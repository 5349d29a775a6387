#include "mst/prediction.hpp"

#include "mst/cluster_selection.hpp"
#include "mst/height.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/query_tree.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
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

/// Finds the neighbors of new points. Several may be found at once.
template <Coordinate T>
class ReachableNeighbors {
public:
    struct Neighbor {
        T reach = std::numeric_limits<T>::infinity();   ///< square of the mutual reachability distance
        T squared = std::numeric_limits<T>::infinity(); ///< length
        std::int32_t index = std::numeric_limits<std::int32_t>::max();

        friend bool operator<(const Neighbor& a, const Neighbor& b) noexcept {
            return std::tie(a.reach, a.squared, a.index) < std::tie(b.reach, b.squared, b.index);
        }
    };
    /// A node that may hold a nearer point than `least`, which has its smallest index.
    struct Near {
        Neighbor least;
        std::int32_t node;
        int level;

        friend bool operator<(const Near& a, const Near& b) noexcept { return b.least < a.least; } // the nearest on top
    };
    using Position = std::array<T, max_dimension>;

    ReachableNeighbors(Context& context, const PlaneTree<T>& tree, std::span<const double> core_distances)
        : tree_(tree.view()), frame_(tree.points.frame), squares_(frame_),
          core_(context.memory_tracker(), tree.points.count), by_index_(context.memory_tracker(), tree.points.count) {
        parallel_each(tree.points.count, 1 << 14, [&](std::int64_t i) {
            const std::int32_t index = tree.points.indices[i];
            core_[i] = by_index_[index] = squares_.of_height(core_distances[index]);
        });
        cores_ = node_attributes<T>(
            context, tree_, [&](std::int32_t i) { return core_[i]; }, [](T a, T b) { return std::min(a, b); });
    }

    [[nodiscard]] const HeightSquares<T>& squares() const { return squares_; }

    /// The nearest in a row of points by (squared length, index).
    [[nodiscard]] Neighbor first_of_row(T core, const std::int32_t* indices, const T* squared, std::int64_t k) const {
        Neighbor first;
        for (std::int64_t i = 0; i < k && indices[i] >= 0; ++i) {
            offer(first, core, by_index_[indices[i]], squared[i], indices[i]);
        }
        return first;
    }

    /// The nearest of all, which comes no later than `found`.
    [[nodiscard]] Neighbor nearest(const Position& at, T core, Neighbor found, std::vector<Near>& heap) const {
        heap.clear();
        add(at, core, tree_.top, 0, tree_.planes[tree_.top].nodes, found, heap);
        while (!heap.empty() && heap.front().least < found) {
            std::pop_heap(heap.begin(), heap.end());
            const auto [least, node, level] = heap.back();
            heap.pop_back();
            const PlaneView<T>& plane = tree_.planes[level];
            if (level > 0) {
                add(at, core, level - 1, plane.first_child[node], plane.first_child[node + 1], found, heap);
            } else {
                for (std::int32_t i = plane.first_point[node]; i < plane.first_point[node + 1]; ++i) {
                    offer(found, core, core_[i], squared_length(at, i), tree_.points.indices[i]);
                }
            }
        }
        return found;
    }

private:
    void offer(Neighbor& found, T core, T core_of_other, T squared, std::int32_t index) const {
        Neighbor other{std::max({core, core_of_other, squared}), squared, index};
        if (other.reach <= found.reach) {
            other.reach = std::max({core, core_of_other, squares_.of_length(squared)});
            found = std::min(found, other);
        }
    }

    void add(const Position& at, T core, int level, std::int32_t begin, std::int32_t end, const Neighbor& found,
             std::vector<Near>& heap) const {
        for (std::int32_t node = begin; node < end; ++node) {
            const T squared = least_length(at, tree_.planes[level], node);
            const Near near{
                {std::max({core, cores_[level][node], squared}), squared, tree_.planes[level].smallest_index[node]},
                node,
                level};
            if (near.least < found) {
                heap.push_back(near);
                std::push_heap(heap.begin(), heap.end());
            }
        }
    }

    [[nodiscard]] T squared_length(const Position& at, std::int32_t i) const {
        T sum = 0;
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            T t = std::abs(at[axis] - tree_.points.axis(axis)[i]);
            t = std::min(t, frame_.working_period[axis] - t); // infinity on open axes
            sum = axis == 0 ? t * t : std::fma(t, t, sum);
        }
        return sum;
    }

    /// To the box of a node, by the operations of geometry/distances-inl.hpp.
    [[nodiscard]] T least_length(const Position& at, const PlaneView<T>& plane, std::int32_t node) const {
        T sum = 0;
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            const T lower = plane.lower(axis)[node];
            const T upper = plane.upper(axis)[node];
            const T nearest = std::max(std::max(lower - at[axis], at[axis] - upper), T(0));
            const T farthest = std::max(upper - at[axis], at[axis] - lower);
            const T t = std::max(std::min(nearest, frame_.working_period[axis] - farthest), T(0));
            sum = axis == 0 ? t * t : std::fma(t, t, sum);
        }
        return sum;
    }

    TreeView<T> tree_;
    const Frame<T>& frame_;
    HeightSquares<T> squares_;
    Buffer<T> core_; ///< by position
    Buffer<T> by_index_;
    std::vector<Buffer<T>> cores_; ///< the smallest of each node
};

/// Takes the rows of new points.
template <Coordinate T>
class PredictionSink final : public RowSink<T> {
public:
    PredictionSink(const ReachableNeighbors<T>& neighbors, const PlaneTree<T>& new_points,
                   const HdbscanResult& clusters, HdbscanPrediction& result)
        : neighbors_(neighbors), new_points_(new_points), clusters_(clusters), result_(result) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            find(block.first + row, block.indices + row * block.k, block.distances + row * block.k, block.k);
        }
    }

private:
    using Neighbors = ReachableNeighbors<T>;

    void find(std::int64_t position, const std::int32_t* indices, const T* squared, std::int64_t k) {
        const std::int64_t others = clusters_.min_samples - 1;
        const T core_length = others == 0  ? T(0)
                              : others > k ? std::numeric_limits<T>::infinity()
                                           : squared[others - 1];
        const T core = neighbors_.squares().of_length(core_length);
        typename Neighbors::Neighbor found = neighbors_.first_of_row(core, indices, squared, k);
        if (found.reach > core) { // or else points outside the row, which are no nearer, come later
            typename Neighbors::Position at{};
            for (int axis = 0; axis < new_points_.points.dimension(); ++axis) {
                at[axis] = new_points_.points.axis(axis)[position];
            }
            found = neighbors_.nearest(at, core, found, heaps_.local());
        }
        describe(new_points_.points.indices[position], found.index, neighbors_.squares().height_of(found.reach));
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

    const Neighbors& neighbors_;
    const PlaneTree<T>& new_points_;
    const HdbscanResult& clusters_;
    HdbscanPrediction& result_;
    PerThread<std::vector<typename Neighbors::Near>> heaps_;
};

} // namespace

template <Coordinate T>
void predict(Context& context, const PlaneTree<T>& tree, const TreeShape& shape, const NormalizedPoints<T>& new_points,
             const HdbscanResult& clusters, HdbscanPrediction& result) {
    const std::int64_t count = tree.points.count;
    const PlaneTree<T> receivers =
        build_plane_tree<T>(context, new_points, query_tree_shape(shape, count, new_points.view.count()));
    context.stage("search", [&] {
        const ReachableNeighbors<T> neighbors(context, tree, clusters.core_distances);
        const std::int64_t k = std::clamp<std::int64_t>(clusters.min_samples - 1, 1, count);
        KnnRequest<T> request{k, false, {}, ReportScale<T>(tree.points.frame, true)};
        request.report.power = PowerOfTwo<T>(0);
        PredictionSink<T> sink(neighbors, receivers, clusters, result);
        search_tree(context, receivers, tree, request, sink);
    });
}

template void predict(Context&, const PlaneTree<float>&, const TreeShape&, const NormalizedPoints<float>&,
                      const HdbscanResult&, HdbscanPrediction&);
template void predict(Context&, const PlaneTree<double>&, const TreeShape&, const NormalizedPoints<double>&,
                      const HdbscanResult&, HdbscanPrediction&);

} // namespace kith::detail
