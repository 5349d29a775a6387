// The brute-force engine on a GPU: every query against every source, in tiles of shared memory.
//
// A warp serves one query (neighbors/warp_row.hpp); the warps of a block share a tile of sources (halo-finding thesis,
// section 3.4.1). Cost: O(N) a query, again for every list that k takes.
#pragma once

#include "geometry/distances_kernel.hpp"
#include "neighbors/warp_row.hpp"
#include "points/point_set_view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct AllPairsJob {
    PointSetView<T> queries;
    PointSetView<T> sources;
    DeviceRequest<T> request;
};

inline constexpr int all_pairs_warps = 4; ///< of a block
/// Blocks at a time on a multiprocessor, at least: leaves 64 registers where a point takes few of them, else 96.
template <class T, int D>
inline constexpr int all_pairs_blocks = D * sizeof(T) <= 24 ? 8 : 5;

template <class T, int D, bool Periodic, int Rows>
__global__ void __launch_bounds__(all_pairs_warps* warp_size, all_pairs_blocks<T, D>)
    search_all_pairs_kernel(const __grid_constant__ AllPairsJob<T> job) {
    constexpr int tile = all_pairs_warps * warp_size;
    constexpr int size = all_pairs_warps * queue_size;
    __shared__ SharedArray<T, D * tile> coordinates;
    __shared__ SharedArray<std::int32_t, tile> indices;
    __shared__ SharedArray<RankKey<T>, size> waiting;

    if (job.request.frame->is_refused) {
        return;
    }
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % warp_size;
    const int warp = thread / warp_size;
    const std::int64_t query = std::int64_t{blockIdx.x} * all_pairs_warps + warp;
    const bool is_query = query < job.queries.count; // warps without one still help to load tiles
    const DevicePoint<T, D, Periodic> position(job.queries.coordinates + (is_query ? query : 0), job.queries.stride,
                                               job.request.frame->period.data());
    const DeviceQuery row{is_query ? job.queries.indices[query] : -1, static_cast<std::int32_t>(query)};

    find_row<T, Rows>(job.request, waiting, warp * queue_size, row, [&](const auto& /*nearest*/, const auto& offer) {
        for (std::int64_t first = 0; first < job.sources.count; first += tile) {
            __syncthreads();
            if (first + thread < job.sources.count) {
                for (int axis = 0; axis < D; ++axis) {
                    coordinates[axis * tile + thread] =
                        job.sources.coordinates[axis * job.sources.stride + first + thread];
                }
                indices[thread] = job.sources.indices[first + thread];
            }
            __syncthreads();
            for (int i = lane; i - lane < tile && is_query; i += warp_size) {
                RankKey<T> key = no_candidate<T>();
                if (first + i < job.sources.count) {
                    key = {position.squared_distance([&](int axis) -> T { return coordinates[axis * tile + i]; }),
                           indices[i]};
                }
                offer(key);
            }
        }
    });
}

} // namespace kith::detail::inline KITH_GPU
