// Functions that the threads of a block call together, and what they make of their numbers. Blocks have
// threads_of_block; all but for_each_block() is called by all threads.
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/launch.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class Function>
__global__ void __launch_bounds__(threads_of_block) each_block_kernel(const __grid_constant__ Function function) {
    static_assert(sizeof(function) <= 4096, "parameters of a kernel");
    function();
}

/// Calls function() by all threads of `blocks` blocks of threads_of_block.
template <class Function>
void for_each_block(DeviceWork& work, const char* name, std::int64_t blocks, const Function& function) {
    launch(work, name, each_block_kernel<Function>, blocks, threads_of_block, function);
}

inline constexpr int warps_of_block = threads_of_block / warp_size;

/// The numbers of all threads joined, for each of them. The order does not matter to `join`.
template <class Number, class Join>
__device__ Number of_block(Number number, const Join& join) {
    __shared__ SharedArray<Number, warps_of_block> of_warps;
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
        number = join(number, __shfl_xor_sync(whole_warp, number, lanes));
    }
    __syncthreads(); // all have read what the last call left
    if (thread % warp_size == 0) {
        of_warps[thread / warp_size] = number;
    }
    __syncthreads();
    number = of_warps[0];
    for (int warp = 1; warp < warps_of_block; ++warp) {
        const Number other = of_warps[warp];
        number = join(number, other);
    }
    return number;
}

template <class Number>
__device__ Number least_of_block(Number number) {
    return of_block(number, [](Number a, Number b) { return device_min(a, b); });
}
template <class Number>
__device__ Number greatest_of_block(Number number) {
    return of_block(number, [](Number a, Number b) { return device_max(a, b); });
}
__device__ inline std::int32_t sum_of_block(std::int32_t number) {
    return of_block(number, [](std::int32_t a, std::int32_t b) { return a + b; });
}

struct RankInBlock {
    int rank;  ///< how many threads before this one have a flag
    int total; ///< how many have one
};

__device__ inline RankInBlock rank_in_block(bool has_flag) {
    __shared__ SharedArray<int, warps_of_block> of_warps;
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % warp_size;
    const unsigned flags = __ballot_sync(whole_warp, has_flag ? 1 : 0);
    __syncthreads();
    if (lane == 0) {
        of_warps[thread / warp_size] = __popc(flags);
    }
    __syncthreads();
    RankInBlock result{__popc(flags & ((1U << lane) - 1)), 0};
    for (int warp = 0; warp < warps_of_block; ++warp) {
        const int flags_of_warp = of_warps[warp];
        result.rank += warp < thread / warp_size ? flags_of_warp : 0;
        result.total += flags_of_warp;
    }
    return result;
}

/// Sums of several columns over members, one member after the other as one thread would add them, for each thread.
/// terms(i, numbers) gives those of a member. A thread adds for each column what all have brought.
template <int Columns, class Terms>
__device__ void sum_in_order(std::int32_t members, const Terms& terms, double (&sums)[Columns]) {
    constexpr int stride = threads_of_block + 1; // the columns' numbers are in different banks
    __shared__ SharedArray<double, Columns * stride> brought;
    const int thread = static_cast<int>(threadIdx.x);
    double sum = 0;
    for (std::int32_t first = 0; first < members; first += threads_of_block) {
        __syncthreads();
        if (first + thread < members) {
            double numbers[Columns];
            terms(first + thread, numbers);
#pragma unroll
            for (int column = 0; column < Columns; ++column) {
                brought[column * stride + thread] = numbers[column];
            }
        }
        __syncthreads();
        if (thread < Columns) {
            const std::int32_t end = device_min(members - first, threads_of_block);
            for (std::int32_t i = 0; i < end; ++i) {
                const double number = brought[thread * stride + i];
                sum += number;
            }
        }
    }
    __syncthreads();
    if (thread < Columns) {
        brought[thread * stride] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int column = 0; column < Columns; ++column) {
        sums[column] = brought[column * stride];
    }
    __syncthreads();
}

} // namespace kith::detail::inline KITH_GPU
