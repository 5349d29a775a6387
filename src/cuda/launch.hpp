// Launching kernels.
#pragma once

#include "cuda/device_work.hpp"
#include "cuda/intrinsics.hpp"

#include <cstdint>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

/// Runs a kernel on the stream with so many blocks; none is none. `name` is for error texts.
template <class Job>
void launch(DeviceWork& work, const char* name, void (*kernel)(Job), std::int64_t blocks, int threads,
            const std::type_identity_t<Job>& job) {
    if (blocks == 0 || work.only_measures()) {
        return;
    }
#if defined(KITH_EMULATE_CUDA)
    emulation::launch(work.stream(), name,
                      {{static_cast<unsigned>(blocks), 1, 1}, {static_cast<unsigned>(threads), 1, 1}}, kernel, job);
#else
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, work.stream()>>>(job);
#endif
    check_cuda(cudaGetLastError(), name);
}

/// The same with so many threads, or somewhat more.
template <class Job>
void launch_threads(DeviceWork& work, const char* name, void (*kernel)(Job), std::int64_t threads,
                    const std::type_identity_t<Job>& job) {
    launch(work, name, kernel, (threads + threads_of_block - 1) / threads_of_block, threads_of_block, job);
}

template <class Function>
struct EachIndexJob {
    std::int64_t count;
    Function function;
};

template <class Function>
__global__ void each_index_kernel(const __grid_constant__ EachIndexJob<Function> job) {
    const std::int64_t index = thread_index();
    if (index < job.count) {
        job.function(index);
    }
}

/// Calls function(index) for each index below a count, one a thread.
template <class Function>
void for_each_index(DeviceWork& work, const char* name, std::int64_t count, const Function& function) {
    launch_threads(work, name, each_index_kernel<Function>, count, {count, function});
}

} // namespace kith::detail::inline KITH_GPU
