// The search among cells on a GPU: a block for the queries of a cell, a warp for each of them.
//
// A warp follows the edges of its query's cell in ascending order of weight, skips the cells whose boxes are out of
// reach, scans the others 32 points at a time, and stops where the triangle inequality excludes what follows. If the
// horizon is not excluded, edges are not all: then groups are asked, nearest first, for cells that are no targets. The
// flat form has one group, and edges to all cells, which are read by as many as a warp has lanes. Bounds of boxes need
// no slack (geometry/distances_kernel.hpp). Candidates wait until there is one for every lane and are merged by bitonic
// networks; lists longer than 64 take several passes (neighbors/warp_row.hpp). Separate queries find a cell of the
// sources whose hub is near, and use its edges. Source: CLOVER (ICS 2025), algorithm 1 and section 3.2; its lists are
// replaced by those that other engines have.
#pragma once

#include "engines/clover/bound.hpp"
#include "engines/clover/cells_around.hpp"
#include "neighbors/warp_row.hpp"
#include "points/point_set_view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Queries of one block.
struct CellQueries {
    std::int32_t home; ///< cell whose edges they follow; -1: each finds its own
    std::int32_t first;
    std::int32_t last;
};

template <class T>
struct SearchCellsJob {
    PointSetView<T> queries;
    PointSetView<T> sources; ///< cell after cell
    DeviceRequest<T> request;
    TriangleBound<T> bound;
    PlaneView<T> cells;
    PlaneView<T> groups;
    const T* hubs;      ///< of the cells, as far apart as their corners
    std::int32_t edges; ///< of each cell: to all others, or at most as many as a warp has lanes
    const std::int32_t* target;
    const float* weight;
    const float* horizon; ///< null if there are edges to all
    const CellQueries* blocks;
};

inline constexpr int search_cells_warps = 4;  ///< of a block
inline constexpr int search_cells_blocks = 4; ///< at least, of a multiprocessor

/// One query, served by a warp.
template <class T, int D, bool Periodic>
class CellQuery {
public:
    __device__ CellQuery(const SearchCellsJob<T>& job, std::int32_t query, std::int32_t home)
        : job_(job), lane_(static_cast<int>(threadIdx.x) % warp_size),
          around_({job.queries.coordinates + query, job.queries.stride, job.request.frame->period.data()}, job.cells,
                  job.groups),
          home_(home >= 0 ? home : nearest_cell()), radius_(root(distance_to_hub(home_))) {}

    /// Offers every point that may be nearer than the bound.
    template <class Nearest, class Offer>
    __device__ void search(const Nearest& nearest, const Offer& offer) {
        for (std::int32_t edge = 0; edge < job_.edges; ++edge) {
            const int lane = edge % warp_size;
            if (lane == 0) {
                read_edges(edge);
            }
            if (job_.bound.is_beyond(__shfl_sync(whole_warp, weight_, lane), radius_, nearest.bound().squared())) {
                break; // the horizon may be less than the weight of an edge
            }
            if (!(__shfl_sync(whole_warp, least_, lane) > nearest.bound().squared())) {
                scan(__shfl_sync(whole_warp, target_, lane), offer);
            }
        }
        if (job_.edges < job_.cells.nodes &&
            !job_.bound.is_beyond(job_.horizon[home_], radius_, nearest.bound().squared())) {
            ask_groups(nearest, offer);
        }
    }

private:
    __device__ void read_edges(std::int32_t first) {
        if (first + lane_ < job_.edges) {
            const std::int64_t edge = std::int64_t{home_} * job_.edges + first + lane_;
            target_ = job_.target[edge];
            weight_ = job_.weight[edge];
            least_ = around_.distance_to_cell(target_);
        }
    }

    __device__ T distance_to_hub(std::int64_t cell) const {
        return around_.position().squared_distance(
            [&](int axis) { return job_.hubs[axis * job_.cells.stride + cell]; });
    }

    __device__ std::int32_t nearest_cell() const {
        const std::int32_t group = around_.nearest_group().index();
        RankKey<T> nearest = no_candidate<T>();
        for (std::int32_t cell = job_.groups.first_child[group] + lane_; cell < job_.groups.first_child[group + 1];
             cell += warp_size) {
            const RankKey<T> key(distance_to_hub(cell), cell);
            nearest = RankKey<T>::either(key < nearest, key, nearest);
        }
        return least_of_warp(nearest).index();
    }

    template <class Nearest, class Offer>
    __device__ void ask_groups(const Nearest& nearest, const Offer& offer) const {
        around_.visit([&] { return nearest.bound().squared(); },
                      [&](std::int32_t cell, T least, bool is_one) {
                          unsigned near = __ballot_sync(whole_warp, is_one && !(least > nearest.bound().squared()));
                          for (; near != 0; near &= near - 1) {
                              const int from = __ffs(static_cast<int>(near)) - 1;
                              const std::int32_t there = cell - lane_ + from;
                              const bool is_target = __any_sync(whole_warp, target_ == there) != 0;
                              const bool is_near = !(__shfl_sync(whole_warp, least, from) > nearest.bound().squared());
                              if (!is_target && is_near) {
                                  scan(there, offer);
                              }
                          }
                      });
    }

    template <class Offer>
    __device__ void scan(std::int32_t cell, const Offer& offer) const {
        const std::int32_t first = job_.cells.first_point[cell];
        const std::int32_t count =
            points_that_count<D>(job_.cells, cell, job_.request.k + (job_.request.exclude_self ? 1 : 0));
        for (std::int64_t i = lane_; i - lane_ < count; i += warp_size) {
            RankKey<T> key = no_candidate<T>();
            if (i < count) {
                key = {
                    around_.position().squared_distance([&](int axis) { return job_.sources.axis(axis)[first + i]; }),
                    job_.sources.indices[first + i]};
            }
            offer(key);
        }
    }

    const SearchCellsJob<T>& job_;
    const int lane_;
    const CellsAround<T, D, Periodic> around_;
    const std::int32_t home_;
    const T radius_; ///< from the hub of that cell
    // The edge of this lane:
    std::int32_t target_ = -1;
    float weight_ = 0;
    T least_ = 0; ///< squared, to the target's box
};

template <class T, int D, bool Periodic, int Rows>
__global__ void __launch_bounds__(search_cells_warps* warp_size, search_cells_blocks)
    search_cells_kernel(const __grid_constant__ SearchCellsJob<T> job) {
    constexpr int size = search_cells_warps * queue_size;
    __shared__ SharedArray<RankKey<T>, size> waiting;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const CellQueries queries = job.blocks[blockIdx.x];
    for (std::int64_t i = queries.first + warp; i < queries.last; i += search_cells_warps) {
        const auto query = static_cast<std::int32_t>(i);
        CellQuery<T, D, Periodic> served(job, query, queries.home);
        find_row<T, Rows>(job.request, waiting, warp * queue_size, DeviceQuery{job.queries.indices[query], query},
                          [&](const auto& nearest, const auto& offer) { served.search(nearest, offer); });
    }
}

} // namespace kith::detail::inline KITH_GPU
