// Runs a functor for every number below a count, on the device: the only kernel launch of the benchmark. For nvcc.
#pragma once

#include "device.hpp"

#include <cstdint>

namespace bench {

template <class Body>
__global__ void each(std::int64_t count, Body body) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
        body(i);
    }
}

template <class Body>
void for_each(cudaStream_t stream, std::int64_t count, const char* name, const Body& body) {
    constexpr std::int64_t threads = 256;
    constexpr std::int64_t max_blocks = std::int64_t{1} << 20;
    if (count > 0) {
        const std::int64_t blocks = (count + threads - 1) / threads;
        each<<<static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks), threads, 0, stream>>>(count, body);
        check(cudaGetLastError(), name);
    }
}

/// Adds one to a number of the device.
__device__ inline void count_one(unsigned long long* number) {
    atomicAdd(number, 1ULL);
}

} // namespace bench
