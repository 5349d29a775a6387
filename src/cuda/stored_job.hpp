// Kernels whose job lies in memory of the device.
//
// A job that the host knows goes to its kernel by value. Where a part of it depends on the points and the host must not
// wait to learn it, a kernel before completes the job in memory. The text is one: a body, which both kernels run, a
// type with
//   Job             what it is given,
//   threads         of a block,
//   blocks          at a time on a multiprocessor, at least; 0 if that is left open,
//   run(const Job&) what each thread does.
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/launch.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class Body>
__global__ void __launch_bounds__(Body::threads, Body::blocks)
    stored_job_kernel(const typename Body::Job* __restrict__ job) {
    Body::run(*job);
}

/// Runs a body with the job in memory, with so many of its blocks.
template <class Body>
void launch_stored(DeviceWork& work, const char* name, std::int64_t blocks, const typename Body::Job* job) {
    launch(work, name, stored_job_kernel<Body>, blocks, Body::threads, job);
}

/// The same with so many threads, or somewhat more.
template <class Body>
void launch_stored_threads(DeviceWork& work, const char* name, std::int64_t threads, const typename Body::Job* job) {
    launch_stored<Body>(work, name, (threads + Body::threads - 1) / Body::threads, job);
}

/// Does what one thread can do between kernels: completes jobs.
template <class Completion>
__global__ void __launch_bounds__(warp_size) complete_kernel(const __grid_constant__ Completion completion) {
    static_assert(sizeof(Completion) <= 4096, "parameters of a kernel");
    if (threadIdx.x == 0) {
        completion();
    }
}

template <class Completion>
void complete(DeviceWork& work, const char* name, const Completion& completion) {
    launch(work, name, complete_kernel<Completion>, 1, warp_size, completion);
}

} // namespace kith::detail::inline KITH_GPU
