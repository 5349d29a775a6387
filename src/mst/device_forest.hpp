// The growing forest of a spanning tree in memory of a GPU, and the steps of a round, a thread for each point. As
// forest.hpp and boruvka.hpp have it.
//
// What a step writes for others to read is read by later steps alone, so that the ends of kernels are all that orders
// them. Two things are written by many at once: bounds, which are lowered, and a component's best edge, which a better
// one takes the place of by compare-and-swap. Distances are those of a periodic box; the period of an open axis is
// infinite, which gives the same bits. What orders edges first is a policy (edge_weight.hpp).
#pragma once

#include "cuda/lowered_numbers.hpp"
#include "geometry/distances_kernel.hpp"
#include "groups/device_union_find.hpp"
#include "mst/edge_weight.hpp"
#include "mst/row_length.hpp"
#include "points/point_set_view.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Arrays of points are by position in the tree; what is known of a component stands at its root, the lowest position.
template <class T, class Weight = DistanceWeight<T>>
struct DeviceForest {
    PointSetView<T> points;
    Periods<T> period;
    std::int32_t* rows;       ///< positions, nearest first; -1: there are no more points
    std::uint8_t* next;       ///< the first of the row in another component, row_length if none is; or is_duplicate
    T* distance;              ///< weight of the edge to that one; if none is: those to all others weigh no less
    std::int32_t* component;  ///< the root
    LoweredNumbers<T> bound;  ///< no less than the weight of the component's best edge
    LoweredNumbers<T> unseen; ///< the least distance of its points whose rows have none in another component
    std::int32_t* best;       ///< the point whose next neighbor makes the best edge known; -1: none is
    T* length;                ///< squared, of the edge to the next neighbor; null where that is the weight
    Weight weigh;             ///< an edge of that squared length

    [[nodiscard]] __device__ std::int32_t* row(std::int64_t point) const { return rows + point * row_length; }
    [[nodiscard]] __device__ std::int32_t neighbor(std::int32_t point) const { return row(point)[next[point]]; }

    template <int D>
    [[nodiscard]] __device__ T squared_distance(std::int64_t point, std::int64_t other) const {
        const DevicePoint<T, D, true> where(points.coordinates + point, points.stride, period.data());
        return where.squared_distance([&](int axis) { return points.coordinates[axis * points.stride + other]; });
    }

    /// The weight of a point's edge to its next neighbor, whose length is kept.
    template <int D>
    [[nodiscard]] __device__ T weight_of_next(std::int32_t point, std::int32_t neighbor) const {
        const T squared = squared_distance<D>(point, neighbor);
        if constexpr (!Weight::is_distance) {
            length[point] = squared;
        }
        return weigh(point, neighbor, squared);
    }

    /// Whether the best edge of a component in its rows is its least.
    [[nodiscard]] __device__ bool is_certain(std::int64_t root) const { return bound.load(root) < unseen.load(root); }

    __device__ void forget(std::int64_t root) const {
        unseen.set(root, std::numeric_limits<T>::infinity());
        best[root] = -1;
    }

    /// Offers the next neighbor of a point to its component.
    __device__ void offer(std::int32_t point) const {
        std::int32_t* const of_component = best + component[point];
        std::int32_t seen = load_relaxed(of_component); // if it is an older one, a worse one
        while ((seen < 0 || comes_before(point, seen)) && !compare_exchange_relaxed(of_component, seen, point)) {
            seen = load_relaxed(of_component);
        }
    }

    /// The original indices of the edge to a point's next neighbor: the smaller one, then the larger one.
    [[nodiscard]] __device__ std::uint64_t ends_of(std::int32_t point) const {
        const std::int32_t index = points.indices[point];
        const std::int32_t other = points.indices[neighbor(point)];
        return static_cast<std::uint64_t>(device_min(index, other)) << 32 |
               static_cast<std::uint32_t>(device_max(index, other));
    }

    /// Whether the next neighbor of a point makes an edge that comes before that of another point.
    [[nodiscard]] __device__ bool comes_before(std::int32_t point, std::int32_t other) const {
        if constexpr (!Weight::is_distance) {
            if (distance[point] == distance[other] && length[point] != length[other]) {
                return length[point] < length[other];
            }
        }
        return distance[point] < distance[other] ||
               (distance[point] == distance[other] && ends_of(point) < ends_of(other));
    }
};

/// Says of every original index where it is.
struct FindPositions {
    const std::int32_t* indices;
    std::int32_t* position_of;

    __device__ void operator()(std::int64_t point) const {
        position_of[indices[point]] = static_cast<std::int32_t>(point);
    }
};

/// Makes every point a component, and its row, which has original indices, one of positions.
template <class T, int D>
struct StartForest {
    DeviceForest<T> forest;
    const std::int32_t* position_of;

    __device__ void operator()(std::int64_t point) const {
        std::int32_t* const row = forest.row(point);
        for (int i = 0; i < row_length; ++i) {
            row[i] = row[i] >= 0 ? position_of[row[i]] : -1;
        }
        forest.next[point] = 0;
        forest.distance[point] = forest.template squared_distance<D>(point, row[0]);
        forest.component[point] = static_cast<std::int32_t>(point);
        forest.forget(point);
    }
};

/// Reads rows on, to neighbors in other components; lowers what components have not seen.
template <class T, int D, class Weight>
struct ReadRows {
    DeviceForest<T, Weight> forest;

    __device__ void operator()(std::int64_t point) const {
        const int before = forest.next[point];
        if (before == is_duplicate) {
            return;
        }
        const std::int32_t component = forest.component[point];
        if (before < row_length) {
            const std::int32_t* const row = forest.row(point);
            int next = before;
            while (next < row_length && row[next] >= 0 && forest.component[row[next]] == component) {
                ++next;
            }
            if constexpr (Weight::is_distance) {
                const std::int32_t last = row[next < row_length ? next : row_length - 1];
                if (next != before || last < 0) {
                    forest.next[point] =
                        static_cast<std::uint8_t>(last < 0 ? row_length : next); // -1: it has all points
                    forest.distance[point] = last < 0 ? std::numeric_limits<T>::infinity()
                                                      : forest.template squared_distance<D>(point, last);
                }
            } else if (next != before) { // the row has no -1
                forest.next[point] = static_cast<std::uint8_t>(next);
                forest.distance[point] =
                    next < row_length ? forest.template weight_of_next<D>(static_cast<std::int32_t>(point), row[next])
                                      : device_max(forest.distance[point], forest.weigh.frontier[point]);
            }
        }
        if (forest.next[point] == row_length) {
            forest.unseen.lower(component, forest.distance[point]);
        }
    }
};

/// Offers edges to components: of all points, or of those listed.
template <class T, class Weight>
struct OfferEdges {
    DeviceForest<T, Weight> forest;
    const std::int32_t* listed; ///< null: all
    const std::int32_t* count;  ///< of those listed

    __device__ void operator()(std::int64_t i) const {
        if (listed != nullptr && i >= *count) {
            return;
        }
        const std::int32_t point = listed != nullptr ? listed[i] : static_cast<std::int32_t>(i);
        if (forest.next[point] < row_length) {
            forest.offer(point);
        }
    }
};

struct RoundCounts {
    std::int32_t components; ///< how many there are
    std::int32_t certain;    ///< for how many the best edge is known to be the least
};

template <class T, class Weight>
struct RowBoundsJob {
    DeviceForest<T, Weight> forest;
    RoundCounts* counts; ///< 0 before
};

/// Bounds every component by its best edge in its rows. The grid has whole warps.
template <class T, class Weight>
__global__ void bound_by_rows_kernel(const __grid_constant__ RowBoundsJob<T, Weight> job) {
    const DeviceForest<T, Weight>& forest = job.forest;
    const std::int64_t point = thread_index();
    const bool is_root = point < forest.points.count && forest.component[point] == point;
    bool is_certain = false;
    if (is_root) {
        const std::int32_t best = forest.best[point];
        const T bound = best >= 0 ? forest.distance[best] : std::numeric_limits<T>::infinity();
        forest.bound.set(point, bound);
        is_certain = bound < forest.unseen.load(point);
    }
    const unsigned roots = __ballot_sync(whole_warp, is_root);
    const unsigned certain = __ballot_sync(whole_warp, is_certain);
    if (roots != 0 && threadIdx.x % warp_size == 0) {
        atomicAdd(&job.counts->components, __popc(roots));
        atomicAdd(&job.counts->certain, __popc(certain));
    }
}

/// Bounds components by the edges between points that follow each other in the order of the tree.
template <class T, int D, class Weight>
struct BoundByOrder {
    DeviceForest<T, Weight> forest;

    __device__ void operator()(std::int64_t point) const {
        const std::int32_t component = forest.component[point];
        const std::int32_t other = forest.component[point + 1];
        if (component != other) {
            const auto first = static_cast<std::int32_t>(point);
            const T weight = forest.weigh(first, first + 1, forest.template squared_distance<D>(point, point + 1));
            forest.bound.lower(component, weight);
            forest.bound.lower(other, weight);
        }
    }
};

/// Flags the points that may have a better edge than their rows tell.
template <class T, class Weight>
struct FlagSearched {
    DeviceForest<T, Weight> forest;
    std::uint8_t* is_searched;

    __device__ void operator()(std::int64_t point) const {
        is_searched[point] =
            forest.next[point] == row_length && forest.distance[point] <= forest.bound.load(forest.component[point]);
    }
};

/// Edges as they are found, in any order.
template <class T>
struct DeviceEdges {
    std::uint64_t* ends; ///< original indices: the smaller one, then the larger one
    T* weight;
    T* length = nullptr; ///< squared; null where that is the weight
};

/// Links the components through their best edges, or through those that are certain. Each link takes one root away,
/// whose place the edge gets.
template <class T, class Weight>
struct LinkComponents {
    DeviceForest<T, Weight> forest;
    DeviceEdges<T> edges;
    bool only_certain;

    __device__ void operator()(std::int64_t root) const {
        const std::int32_t point = forest.best[root];
        if (point < 0 || (only_certain && !forest.is_certain(root))) {
            return;
        }
        const std::int32_t gone =
            DeviceUnionFind(forest.component).unite(static_cast<std::int32_t>(root), forest.neighbor(point));
        if (gone >= 0) {
            edges.ends[gone - 1] = forest.ends_of(point);
            edges.weight[gone - 1] = forest.distance[point];
            if constexpr (!Weight::is_distance) {
                edges.length[gone - 1] = forest.length[point];
            }
        }
    }
};

/// Every point points to its root again, and nothing is known of the new components.
template <class T, class Weight>
struct Flatten {
    DeviceForest<T, Weight> forest;

    __device__ void operator()(std::int64_t position) const {
        const auto point = static_cast<std::int32_t>(position);
        const std::int32_t root = DeviceUnionFind(forest.component).shorten(point);
        if (root == point || forest.best[point] >= 0) { // it is a root, or was one
            forest.forget(point);
        }
    }
};

/// Coincident points may not be of one component yet where core distances weigh their edges.
template <class T, int D, class Weight>
struct MarkDuplicates {
    DeviceForest<T, Weight> forest;

    __device__ void operator()(std::int64_t point) const {
        bool is_equal = point > 0;
        if constexpr (!Weight::is_distance) {
            is_equal = is_equal && forest.component[point - 1] == forest.component[point];
        }
        for (int axis = 0; is_equal && axis < D; ++axis) {
            is_equal = forest.points.axis(axis)[point - 1] == forest.points.axis(axis)[point];
        }
        if (is_equal) {
            forest.next[point] = is_duplicate;
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
