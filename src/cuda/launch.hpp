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
    emulation::launch(name, {{static_cast<unsigned>(blocks), 1, 1}, {static_cast<unsigned>(threads), 1, 1}}, kernel,
                      job);
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

} // namespace kith::detail::inline KITH_GPU
