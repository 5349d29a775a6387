// A kernel whose elements are work for a warp each.
#pragma once

#include "cuda/launch.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class Function>
__global__ void __launch_bounds__(threads_of_block)
    each_warp_kernel(const __grid_constant__ EachIndexJob<Function> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    const std::int64_t index = thread_index() / warp_size;
    if (index < job.count) {
        job.function(index);
    }
}

/// Calls function(index) for each index below a count, each by a whole warp.
template <class Function>
void for_each_warp(DeviceWork& work, const char* name, std::int64_t count, const Function& function) {
    launch_threads(work, name, each_warp_kernel<Function>, count * warp_size, {count, function});
}

} // namespace kith::detail::inline KITH_GPU
