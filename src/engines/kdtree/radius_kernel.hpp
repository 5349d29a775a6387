// Neighbors within a radius in a left-balanced k-d tree on a GPU: a thread for each query, without a stack.
//
// Threads of a self-search take the nodes in level order. Rows are counted first, then filled from their offsets on, in
// the order of the search.
#pragma once

#include <kith/device/kdtree.hpp>

#include "cuda/intrinsics.hpp"
#include "neighbors/radius_kernel.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// A query is a leaf of its own.
template <class T, int D>
struct KdTreeRadiusJob {
    kdtree::TreeView<kdtree::StructNodes<std::array<T, D>>> tree;
    RadiusKernelJob<T> radius; ///< without leaves and sources; queries without coordinates: the nodes
};

inline constexpr int kd_radius_threads = 128; ///< of a block

template <class T, int D, RadiusTask Task>
__global__ void __launch_bounds__(kd_radius_threads)
    search_kd_radius_kernel(const __grid_constant__ KdTreeRadiusJob<T, D> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    const RadiusKernelJob<T>& radius = job.radius;
    const std::int64_t position = radius.first_leaf + thread_index();
    if (position >= radius.end_leaf) {
        return;
    }
    const std::int32_t own = radius.queries.indices[position];
    const std::int64_t row = radius.first_position < 0 ? own : position - radius.first_position;
    kdtree::Position<T, D> query;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        query.x[axis] = radius.queries.coordinates == nullptr
                            ? job.tree.coordinate(static_cast<kdtree::Node>(position), axis)
                            : radius.queries.axis(axis)[position];
    }
    const kdtree::SquaredRadius<T> squared{radius.squared_radii != nullptr ? radius.squared_radii[own]
                                                                           : radius.squared_radius};
    constexpr auto method = kdtree::Traversal::stack_free;
    if constexpr (Task == RadiusTask::count) {
        kdtree::CountWithin within(squared);
        kdtree::search<method>(job.tree, query, within);
        radius.counts[row] = within.count() - (radius.exclude_self ? 1 : 0);
    } else {
        static_assert(Task == RadiusTask::fill);
        std::int64_t place = radius.offsets[row];
        const auto write = [&](T distance, std::int32_t index, kdtree::Node) {
            if (!(radius.exclude_self && index == own)) {
                radius.rows.write(place++, distance, index);
            }
        };
        kdtree::WithinRadius within(squared, write);
        kdtree::search<method>(job.tree, query, within);
    }
}

} // namespace kith::detail::inline KITH_GPU
