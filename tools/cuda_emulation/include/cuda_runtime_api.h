// Stands in for CUDA's header of this name: what is taken and freed at once, and not in the order of a stream.
#pragma once

#include "cuda_emulation/cuda_runtime.hpp"

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
