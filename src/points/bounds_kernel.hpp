// Least and greatest coordinates of a caller's points, the one nearest to zero and the first point that is not finite,
// on a GPU: every block goes over its share and writes what it found; the host joins that.
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/lane_bounds.hpp"
#include "points/device_view.hpp"
#include "points/resolve_frame.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct BoundsKernelJob {
    DeviceView<T> points;
    PointBounds<T>* found; ///< one of each block
};

inline constexpr int bounds_warps = 8; ///< of a block

template <class T, int D>
__global__ void __launch_bounds__(bounds_warps* warp_size)
    bounds_kernel(const __grid_constant__ BoundsKernelJob<T> job) {
    const std::int64_t thread = thread_index();
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
    LaneBox<T, D> box;
    T nearest_to_zero = std::numeric_limits<T>::infinity();
    std::int64_t first_not_finite = all_are_finite;
    for (std::int64_t point = thread; point < job.points.count; point += threads) {
        bool finite = true;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            const T x = job.points.raw(point, axis);
            finite = finite && x * 0 == 0;
            box.add(axis, x, x);
            nearest_to_zero = x != 0 ? device_min(nearest_to_zero, magnitude_of(x)) : nearest_to_zero;
        }
        first_not_finite = finite ? first_not_finite : device_min(first_not_finite, point);
    }
    __syncwarp();
    box.template join<warp_size>();
    nearest_to_zero = least_of_lanes<warp_size>(nearest_to_zero);
    first_not_finite = least_of_lanes<warp_size>(first_not_finite);
    __shared__ SharedArray<T, 2 * D * bounds_warps> of_warps;
    __shared__ SharedArray<T, bounds_warps> nearest_of_warps;
    __shared__ SharedArray<std::int64_t, bounds_warps> not_finite_of_warps;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    if (threadIdx.x % warp_size == 0) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            of_warps[2 * D * warp + axis] = box.lower[axis];
            of_warps[2 * D * warp + D + axis] = box.upper[axis];
        }
        nearest_of_warps[warp] = nearest_to_zero;
        not_finite_of_warps[warp] = first_not_finite;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        PointBounds<T>& found = job.found[blockIdx.x];
        for (int other = 1; other < bounds_warps; ++other) {
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                box.add(axis, of_warps[2 * D * other + axis], of_warps[2 * D * other + D + axis]);
            }
            nearest_to_zero = device_min<T>(nearest_to_zero, nearest_of_warps[other]);
            first_not_finite = device_min<std::int64_t>(first_not_finite, not_finite_of_warps[other]);
        }
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            found.lower[axis] = box.lower[axis];
            found.upper[axis] = box.upper[axis];
        }
        for (int axis = D; axis < max_dimension; ++axis) { // the host copies them, too
            found.lower[axis] = 0;
            found.upper[axis] = 0;
        }
        found.nearest_to_zero = nearest_to_zero;
        found.first_not_finite = first_not_finite;
    }
}

} // namespace kith::detail::inline KITH_GPU
