// Stands in for CUDA's header of this name: the text of kernels, and the host code around them, compiled for the CPU.
#pragma once

#include "cuda_emulation/cuda_runtime.hpp"
#include "cuda_emulation/cuda_intrinsics.hpp"
