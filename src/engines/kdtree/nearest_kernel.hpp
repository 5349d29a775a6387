// The k nearest neighbors in a left-balanced k-d tree on a GPU: a thread for each query, the traversal by closest
// corners of kith/device/kdtree_search.hpp.
//
// Up to largest_short_list neighbors are kept in registers, more of them in a heap in memory of the device; a thread
// goes through as many queries as that memory asks for.
#pragma once

#include <kith/device/kdtree_search.hpp>

#include "cuda/intrinsics.hpp"
#include "neighbors/warp_row.hpp"
#include "points/point_set_view.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

inline constexpr int largest_short_list = 8;
inline constexpr int nearest_threads = 128; ///< of a block

template <class T, int D>
struct NearestJob {
    kdtree::TreeView<kdtree::StructNodes<std::array<T, D>>> tree;
    PointSetView<T> queries; ///< without coordinates: the nodes, in level order, where neighbors follow each other
    DeviceRequest<T> request;
    kdtree::Neighbor<T>* heaps = nullptr; ///< of `heap_size` neighbors, one for each thread of the grid
    std::int64_t heap_size = 0;
};

template <class T, int D, class Nearest>
__device__ void find_nearest_of(const NearestJob<T, D>& job, std::int64_t query, std::int32_t index, Nearest& nearest) {
    kdtree::Position<T, D> position;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        position.x[axis] = job.queries.coordinates == nullptr
                               ? job.tree.coordinate(static_cast<kdtree::Node>(query), axis)
                               : job.queries.axis(axis)[query];
    }
    kdtree::Except others(nearest, job.request.exclude_self ? index : -1);
    kdtree::search<kdtree::Traversal::closest_corner>(job.tree, position, others);
}

template <class T, int D, class Nearest>
__device__ void write_row(const NearestJob<T, D>& job, std::int32_t index, const Nearest& nearest) {
    using Rank = decltype(nearest.size());
    write_neighbors(job.request, [&](const auto& write) {
        for (Rank rank = 0; rank < job.request.k; ++rank) {
            write(index * job.request.k + rank, rank < nearest.size()
                                                    ? RankKey<T>(nearest[rank].squared_distance, nearest[rank].index)
                                                    : no_candidate<T>());
        }
    });
}

/// With lists of so many neighbors, or heaps if that is 0.
template <class T, int D, int K>
__global__ void __launch_bounds__(nearest_threads) nearest_kernel(const __grid_constant__ NearestJob<T, D> job) {
    const std::int64_t thread = thread_index();
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t query = thread; query < job.queries.count; query += threads) {
        const std::int32_t index = job.queries.indices[query];
        const T limit = job.request.frame->limit.squared();
        if constexpr (K > 0) {
            kdtree::Nearest<T, K> nearest(kdtree::SquaredRadius<T>{limit});
            find_nearest_of(job, query, index, nearest);
            write_row(job, index, nearest);
        } else {
            kdtree::NearestHeap<T> nearest(job.heaps + thread * job.heap_size, job.heap_size, {limit});
            find_nearest_of(job, query, index, nearest);
            nearest.sort();
            write_row(job, index, nearest);
        }
    }
}

} // namespace kith::detail::inline KITH_GPU
