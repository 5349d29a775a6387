// Friends-of-friends by brute force on a GPU: every point against every later one, in tiles of shared memory.
//
// A thread has one point; the threads of a block share a tile of others, and go through the tiles from their own on.
// The kernel is for few points: it costs the square of their number. Most friends are of one group already when they
// meet, and are not joined again (groups/device_union_find.hpp).
#pragma once

#include "geometry/distances_kernel.hpp"
#include "groups/friend_search.hpp"
#include "points/point_set_view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct AllLinksJob {
    PointSetView<T> points;
    const LinkFrame<T>* frame;
    DeviceUnionFind groups;
};

inline constexpr int all_links_tile = 128; ///< points, and threads of a block
inline constexpr int all_links_blocks = 8; ///< at a time on a multiprocessor, at least: leaves 64 registers

/// The grid has a block for each tile.
template <class T, int D, bool Periodic>
__global__ void __launch_bounds__(all_links_tile, all_links_blocks)
    link_all_pairs_kernel(const __grid_constant__ AllLinksJob<T> job) {
    constexpr int tile = all_links_tile;
    __shared__ SharedArray<T, D * tile> coordinates;

    if (job.frame->is_refused) {
        return;
    }
    const T squared_length = job.frame->squared_length;
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t own_tile = std::int64_t{blockIdx.x} * tile;
    const std::int64_t point = own_tile + thread;
    const std::int64_t count = job.points.count;
    const bool is_point = point < count; // threads without one still help to load tiles
    const DevicePoint<T, D, Periodic> position(job.points.coordinates + (is_point ? point : 0), job.points.stride,
                                               job.frame->period.data());
    for (std::int64_t first = own_tile; first < count; first += tile) {
        __syncthreads();
        if (first + thread < count) {
            for (int axis = 0; axis < D; ++axis) {
                coordinates[axis * tile + thread] = job.points.coordinates[axis * job.points.stride + first + thread];
            }
        }
        __syncthreads();
        if (!is_point) {
            continue;
        }
        const int end = static_cast<int>(device_min(count - first, std::int64_t{tile}));
        for (int i = first == own_tile ? thread + 1 : 0; i < end; ++i) {
            const T distance = position.squared_distance([&](int axis) -> T { return coordinates[axis * tile + i]; });
            if (distance <= squared_length) {
                job.groups.unite(static_cast<std::int32_t>(point), static_cast<std::int32_t>(first + i));
            }
        }
    }
}

} // namespace kith::detail::inline KITH_GPU
