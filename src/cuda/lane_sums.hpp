// Sums over the lanes of a warp, of numbers up to 128 bits.
#pragma once

#include "cuda/intrinsics.hpp"
#include "support/int128.hpp"

namespace kith::detail::inline KITH_GPU {

/// Fetches numbers of the lane whose number differs by `lanes`.
struct OfLane {
    int lanes;

    template <class T>
    __device__ T operator()(const T& number) const {
        return __shfl_xor_sync(whole_warp, number, lanes);
    }
    __device__ UnsignedInt128 operator()(const UnsignedInt128& number) const {
        const auto low = (*this)(static_cast<unsigned long long>(number));
        const auto high = (*this)(static_cast<unsigned long long>(number >> 64));
        return UnsignedInt128{high} << 64 | low;
    }
    __device__ Int128 operator()(const Int128& number) const {
        return static_cast<Int128>((*this)(static_cast<UnsignedInt128>(number)));
    }
};

/// Of whole numbers, for every lane. To be called by the whole warp.
template <class Number>
__device__ Number sum_of_warp(Number number) {
#pragma unroll
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
        number += OfLane{lanes}(number);
    }
    return number;
}

} // namespace kith::detail::inline KITH_GPU
