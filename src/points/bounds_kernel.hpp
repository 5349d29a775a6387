// Least and greatest coordinates of a caller's points and the first point that is not finite, on a GPU: every warp goes
// over its share and writes what it found; the host joins that.
#pragma once

#include "cuda/words.hpp"
#include "points/device_view.hpp"
#include "walk/device_distances.hpp"

#include <cmath>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct BoundsKernelJob {
    DeviceView<T> points;
    PointBounds<T>* found; ///< one of each warp
};

template <class T, int D>
__global__ void bounds_kernel(const __grid_constant__ BoundsKernelJob<T> job) {
    const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
    T lower[D];
    T upper[D];
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        lower[axis] = std::numeric_limits<T>::infinity();
        upper[axis] = -std::numeric_limits<T>::infinity();
    }
    std::int64_t first_not_finite = all_are_finite;
    for (std::int64_t point = thread; point < job.points.count; point += threads) {
        bool finite = true;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            const T x = job.points.raw(point, axis);
            finite = finite && x * 0 == 0;
            lower[axis] = lesser(lower[axis], x);
            upper[axis] = greater(upper[axis], x);
        }
        first_not_finite = finite ? first_not_finite : lesser(first_not_finite, point);
    }
    __syncwarp();
#pragma unroll
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            lower[axis] = lesser(lower[axis], __shfl_xor_sync(whole_warp, lower[axis], lanes));
            upper[axis] = greater(upper[axis], __shfl_xor_sync(whole_warp, upper[axis], lanes));
        }
        first_not_finite = lesser(first_not_finite, __shfl_xor_sync(whole_warp, first_not_finite, lanes));
    }
    if (thread % warp_size == 0) {
        PointBounds<T>& found = job.found[thread / warp_size];
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            found.lower[axis] = lower[axis];
            found.upper[axis] = upper[axis];
        }
        found.first_not_finite = first_not_finite;
    }
}

} // namespace kith::detail::inline KITH_GPU
