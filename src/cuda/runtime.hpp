// The calls to the CUDA runtime, each of them checked.
#pragma once

#include "cuda/namespace.hpp"

#include <cuda_runtime.h>

namespace kith::detail::inline KITH_GPU {

/// Throws out_of_memory or device, naming what failed and what the runtime says of it.
void check_cuda(cudaError_t result, const char* what);

} // namespace kith::detail::inline KITH_GPU
