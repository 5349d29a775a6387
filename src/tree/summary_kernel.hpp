// The tight box and the smallest index of every node of a plane, on a GPU: a few lanes of a warp for each node.
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/lane_bounds.hpp"
#include "tree/lanes_of_node.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Points, or the nodes of the plane below: points are boxes whose corners are one.
template <class T>
struct DeviceBoxes {
    const T* lower_corners;
    const T* upper_corners;
    std::int64_t stride; ///< between axes
    const std::int32_t* smallest_index;
};

template <class T>
struct SummaryKernelJob {
    std::int32_t nodes;
    const std::int32_t* first; ///< of the boxes that make up each node; one more at the end
    DeviceBoxes<T> below;
    T* lower_corners;
    T* upper_corners;
    std::int64_t stride; ///< between axes
    std::int32_t* smallest_index;
};

/// The grid is that of LaneOfNode.
template <class T, int D>
__global__ void summarize_kernel(const __grid_constant__ SummaryKernelJob<T> job) {
    const LaneOfNode lane = LaneOfNode::of_thread(job.nodes, job.first);
    LaneBox<T, D> box;
    std::int32_t index = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t i = lane.first; i < lane.end; i += lanes_of_node) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            box.add(axis, job.below.lower_corners[axis * job.below.stride + i],
                    job.below.upper_corners[axis * job.below.stride + i]);
        }
        index = device_min(index, job.below.smallest_index[i]);
    }
    __syncwarp();
    box.template join<lanes_of_node>();
    index = least_of_lanes<lanes_of_node>(index);
    if (lane.writes) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            job.lower_corners[axis * job.stride + lane.node] = box.lower[axis];
            job.upper_corners[axis * job.stride + lane.node] = box.upper[axis];
        }
        job.smallest_index[lane.node] = index;
    }
}

} // namespace kith::detail::inline KITH_GPU
