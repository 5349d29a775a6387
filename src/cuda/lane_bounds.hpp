// The least and the greatest of numbers that the lanes of a warp hold, and boxes made of them.
#pragma once

#include "cuda/intrinsics.hpp"

#include <limits>

namespace kith::detail::inline KITH_GPU {

/// The least of so many lanes side by side, a power of two, for each of them. To be called by the whole warp.
template <int Lanes, class Number>
__device__ Number least_of_lanes(Number number) {
#pragma unroll
    for (int lanes = Lanes / 2; lanes > 0; lanes /= 2) {
        number = device_min(number, __shfl_xor_sync(whole_warp, number, lanes));
    }
    return number;
}

/// The greatest likewise.
template <int Lanes, class Number>
__device__ Number greatest_of_lanes(Number number) {
#pragma unroll
    for (int lanes = Lanes / 2; lanes > 0; lanes /= 2) {
        number = device_max(number, __shfl_xor_sync(whole_warp, number, lanes));
    }
    return number;
}

/// The box of what a lane has seen, of nothing at first.
template <class T, int D>
struct LaneBox {
    T lower[D];
    T upper[D];

    __device__ LaneBox() {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            lower[axis] = std::numeric_limits<T>::infinity();
            upper[axis] = -std::numeric_limits<T>::infinity();
        }
    }
    __device__ void add(int axis, T least, T greatest) {
        lower[axis] = device_min(lower[axis], least);
        upper[axis] = device_max(upper[axis], greatest);
    }
    /// Makes every lane's box one that holds the boxes of so many lanes. To be called by the whole warp.
    template <int Lanes>
    __device__ void join() {
#pragma unroll
        for (int lanes = Lanes / 2; lanes > 0; lanes /= 2) {
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                add(axis, __shfl_xor_sync(whole_warp, lower[axis], lanes),
                    __shfl_xor_sync(whole_warp, upper[axis], lanes));
            }
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
