// The calls to the CUDA runtime, each of them checked.
#pragma once

#include "cuda/namespace.hpp"

#if defined(KITH_EMULATE_CUDA)
#include "emulation/cuda_runtime.hpp"
#else
#include <cuda_runtime.h>
#endif

namespace kith::detail::inline KITH_GPU {

/// Throws out_of_memory or device, naming what failed and what the runtime says of it.
void check_cuda(cudaError_t error, const char* what);

} // namespace kith::detail::inline KITH_GPU
