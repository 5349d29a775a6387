// Kernels as users write them with kith/walk.hpp: both walks, and an attribute of nodes, one thread for each task.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"

#include <kith/walk.hpp>

#include <cstdint>

namespace kith::test {

/// What kernels have: a tree on the device, a squared radius, and memory for what they find.
template <class T, int D>
struct OwnWalks {
    walk::TreeView<T, D> tree;
    T squared;
    std::int32_t plane;       ///< of the tasks, or of the nodes that are reduced
    std::int64_t* neighbors;  ///< of each sorted point
    std::int64_t* pairs;      ///< of each task
    std::int64_t* index_sums; ///< of each node of all planes
};

/// Counts the points around one.
template <class T, int D>
struct NeighborPolicy {
    const walk::TreeView<T, D>& tree;
    walk::Point<T, D> point;
    T squared;
    std::int64_t count = 0;

    KITH_HOST_DEVICE walk::Step step(walk::Node node) const {
        const auto place = walk::box_of(point);
        return tree.space.least(place, tree.box(node)) > squared       ? walk::Step::drop
               : tree.space.greatest(place, tree.box(node)) <= squared ? walk::Step::take
                                                                       : walk::Step::open;
    }
    KITH_HOST_DEVICE void take(walk::Node node) { count += tree.points_in(node); }
    KITH_HOST_DEVICE void leaf(walk::Node node) {
        for (std::int32_t i = tree.first_point(node); i < tree.end_point(node); ++i) {
            count += tree.space.squared_distance(point, tree.point(i)) <= squared ? 1 : 0;
        }
    }
};

/// Counts pairs of different points.
template <class T, int D>
struct ClosePairs {
    const walk::TreeView<T, D>& tree;
    T squared;
    std::int64_t count = 0;

    KITH_HOST_DEVICE walk::Step step(walk::Node a, walk::Node b) const {
        return tree.space.least(tree.box(a), tree.box(b)) > squared       ? walk::Step::drop
               : tree.space.greatest(tree.box(a), tree.box(b)) <= squared ? walk::Step::take
                                                                          : walk::Step::open;
    }
    KITH_HOST_DEVICE void take(walk::Node a, walk::Node b) {
        const std::int64_t points = tree.points_in(a);
        count += a == b ? points * (points - 1) / 2 : points * tree.points_in(b);
    }
    KITH_HOST_DEVICE void leaf(walk::Node a, walk::Node b) {
        for (std::int32_t i = tree.first_point(a); i < tree.end_point(a); ++i) {
            for (std::int32_t j = a == b ? i + 1 : tree.first_point(b); j < tree.end_point(b); ++j) {
                count += tree.space.squared_distance(tree.point(i), tree.point(j)) <= squared ? 1 : 0;
            }
        }
    }
};

/// The sum of original indices.
template <class T, int D>
struct SumIndices {
    const walk::TreeView<T, D>& tree;

    KITH_HOST_DEVICE std::int64_t leaf(walk::Node node) const {
        std::int64_t sum = 0;
        for (std::int32_t i = tree.first_point(node); i < tree.end_point(node); ++i) {
            sum += tree.order[i];
        }
        return sum;
    }
    KITH_HOST_DEVICE std::int64_t join(walk::Node /*node*/, const std::int64_t* children, std::int32_t count) const {
        std::int64_t sum = 0;
        for (std::int32_t i = 0; i < count; ++i) {
            sum += children[i];
        }
        return sum;
    }
};

template <class T, int D>
__global__ void own_receiver_kernel(const __grid_constant__ OwnWalks<T, D> job) {
    const std::int64_t i = detail::thread_index();
    if (i < job.tree.count) {
        NeighborPolicy<T, D> policy{job.tree, job.tree.point(static_cast<std::int32_t>(i)), job.squared};
        walk::receive(job.tree, policy);
        job.neighbors[i] = policy.count;
    }
}

template <class T, int D>
__global__ void own_pair_kernel(const __grid_constant__ OwnWalks<T, D> job) {
    const std::int64_t i = detail::thread_index();
    if (i < job.tree.planes[job.plane].nodes) {
        ClosePairs<T, D> policy{job.tree, job.squared};
        walk::pairs(job.tree, walk::Node{job.plane, static_cast<std::int32_t>(i)}, policy);
        job.pairs[i] = policy.count;
    }
}

template <class T, int D>
__global__ void own_reduction_kernel(const __grid_constant__ OwnWalks<T, D> job) {
    const std::int64_t i = detail::thread_index();
    if (i < job.tree.planes[job.plane].nodes) {
        walk::reduce_node(job.tree, walk::Node{job.plane, static_cast<std::int32_t>(i)}, SumIndices<T, D>{job.tree},
                          job.index_sums);
    }
}

/// All of these kernels; `job.plane` is that of the pairs' tasks.
template <class T, int D>
void walk_in_own_kernels(detail::DeviceContext& context, OwnWalks<T, D> job) {
    detail::launch_threads(context, "own receivers", own_receiver_kernel<T, D>, job.tree.count, job);
    detail::launch_threads(context, "own pairs", own_pair_kernel<T, D>, job.tree.planes[job.plane].nodes, job);
    for (job.plane = 0; job.plane < job.tree.plane_count; ++job.plane) {
        detail::launch_threads(context, "own reduction", own_reduction_kernel<T, D>, job.tree.planes[job.plane].nodes,
                               job);
    }
}

} // namespace kith::test
