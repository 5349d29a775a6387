// The working copy of a caller's points, in some order, on a GPU: a thread for each point.
#pragma once

#include "cuda/intrinsics.hpp"
#include "points/device_view.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct GatherPointsJob {
    DeviceView<T> points;
    std::int32_t* indices;
    T* coordinates;      ///< axis after axis
    std::int64_t stride; ///< between axes
};

template <class T, int D>
__device__ void gather_point(const GatherPointsJob<T>& job, std::int64_t to, std::int64_t point) {
    const std::array<T, D> x = job.points.template position<D>(point);
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        job.coordinates[axis * job.stride + to] = x[axis];
    }
}

/// In the order of the indices.
template <class T, int D>
__global__ void gather_points_kernel(const __grid_constant__ GatherPointsJob<T> job) {
    const std::int64_t i = thread_index();
    if (i < job.points.count) {
        gather_point<T, D>(job, i, job.indices[i]);
    }
}

/// In the order given; indices get each point's own.
template <class T, int D>
__global__ void copy_points_kernel(const __grid_constant__ GatherPointsJob<T> job) {
    const std::int64_t i = thread_index();
    if (i < job.points.count) {
        job.indices[i] = static_cast<std::int32_t>(i);
        gather_point<T, D>(job, i, i);
    }
}

} // namespace kith::detail::inline KITH_GPU
