// Edges between cells on a GPU: to a few near cells (connect-inl.hpp says which), or between all.
//
// Of few edges a warp finds a cell's: the nearest boxes, group after group; then the points nearest to the hub, a cell
// at a time; then the order. Between all cells a thread measures from one hub to the points of one cell, which a warp
// shares, and one sort puts all rows in order. So no weight is found by atomic operations. Weights are least distances
// from hub to point, rounded down. Source: CLOVER (ICS 2025), section 3.1, kernels 4 and 5, for what is found.
#pragma once

#include "engines/clover/cells_around.hpp"
#include "engines/clover/shape.hpp"
#include "neighbors/warp_top_k.hpp"
#include "points/point_set_view.hpp"

#include "cuda/lane_bounds.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct EdgesJob {
    PointSetView<T> points;
    Periods<T> period;
    PlaneView<T> cells;
    PlaneView<T> groups;
    const T* hubs; ///< of the cells, as far apart as their corners
    std::int32_t edges;
    std::int32_t* target;
    float* weight;
    float* horizon;

    template <int D, bool Periodic>
    __device__ DevicePoint<T, D, Periodic> hub(std::int64_t cell) const {
        return {hubs + cell, cells.stride, period.data()};
    }
};

/// The largest number of type float that is not larger than a root.
template <class T>
__device__ float root_rounded_down(T squared) {
    const T x = root(squared);
    const auto rounded = static_cast<float>(x);
    return rounded > x ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) - 1) : rounded;
}

inline constexpr int connect_warps = 4; ///< of a block

/// A warp for each cell.
template <class T, int D, bool Periodic>
__global__ void __launch_bounds__(connect_warps* warp_size)
    connect_cells_kernel(const __grid_constant__ EdgesJob<T> job) {
    constexpr int size = connect_warps * queue_size;
    __shared__ SharedArray<RankKey<T>, size> waiting;
    const std::int64_t cell = thread_index() / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (cell >= job.cells.nodes) {
        return;
    }
    const CellsAround<T, D, Periodic> around(job.template hub<D, Periodic>(cell), job.cells, job.groups);
    const auto wanted =
        static_cast<int>(job.cells.nodes < cells_weighed(job.edges) ? job.cells.nodes : cells_weighed(job.edges));
    NearestOfWarp<T, 2, size> nearest(waiting, static_cast<int>(threadIdx.x) / warp_size * queue_size, wanted,
                                      no_candidate<T>());
    around.visit([&] { return nearest.bound().squared(); },
                 [&](std::int32_t other, T least, bool is_one) {
                     const RankKey<T> key(least, other);
                     nearest.offer(key, is_one && key < nearest.bound());
                 });
    nearest.flush();
    WarpTopK<T, 2> lightest(wanted, no_candidate<T>());
#pragma unroll
    for (int row = 0; row < 2; ++row) {
        const std::int32_t mine = nearest.of_row(row).index();
        RankKey<T> weighed = no_candidate<T>();
        for (int rank = 0; rank < warp_size && row * warp_size + rank < wanted; ++rank) {
            const std::int32_t other = __shfl_sync(whole_warp, mine, rank);
            const std::int32_t first = job.cells.first_point[other];
            const std::int32_t count = points_that_count<D>(job.cells, other, 1);
            T least = std::numeric_limits<T>::infinity();
            for (std::int64_t i = lane; i < count; i += warp_size) {
                least = device_min(least, around.position().squared_distance(
                                              [&](int axis) { return job.points.axis(axis)[first + i]; }));
            }
            __syncwarp();
            const RankKey<T> key(least_of_lanes<warp_size>(least), other);
            weighed = RankKey<T>::either(lane == rank, key, weighed);
        }
        lightest.add(weighed);
    }
    const RankKey<T> edge = lightest.of_row(0);
    if (lane < job.edges) {
        job.target[cell * job.edges + lane] = edge.index();
        job.weight[cell * job.edges + lane] = root_rounded_down(edge.squared());
    }
    // What is no edge is not lighter than the next that was weighed, or has a box that is not nearer than the last.
    T beyond = (job.edges < warp_size ? edge : lightest.of_row(1)).from_lane(job.edges % warp_size).squared();
    if (wanted < job.cells.nodes) {
        beyond = device_min(beyond, nearest.last_wanted().squared());
    }
    if (lane == 0) {
        job.horizon[cell] = root_rounded_down(beyond);
    }
}

/// The edge from one cell to another, of all pairs of cells: key of row and weight.
template <class T, int D, bool Periodic>
struct WeighPair {
    EdgesJob<T> job;
    std::uint64_t* keys;

    __device__ void operator()(std::int64_t pair) const {
        const std::int64_t from = pair % job.cells.nodes; // neighboring threads share the points
        const std::int64_t to = pair / job.cells.nodes;
        const DevicePoint<T, D, Periodic> hub = job.template hub<D, Periodic>(from);
        const std::int64_t first = job.cells.first_point[to];
        const std::int64_t end = first + points_that_count<D>(job.cells, to, 1);
        T least = std::numeric_limits<T>::infinity();
        for (std::int64_t i = first; i < end; ++i) {
            least = device_min(least, hub.squared_distance([&](int axis) { return job.points.axis(axis)[i]; }));
        }
        keys[pair] = static_cast<std::uint64_t>(from) << 32 | std::bit_cast<std::uint32_t>(root_rounded_down(least));
        job.target[pair] = static_cast<std::int32_t>(to);
    }
};

struct TakeWeights {
    const std::uint64_t* keys;
    float* weight;

    __device__ void operator()(std::int64_t edge) const {
        weight[edge] = std::bit_cast<float>(static_cast<std::uint32_t>(keys[edge] & 0xFFFFFFFFU));
    }
};

} // namespace kith::detail::inline KITH_GPU
