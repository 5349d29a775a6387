// Where everything that is compiled for a GPU lives: kith::detail::gpu.
//
// Tests compile the same text for the CPU (tools/cuda_emulation). There it has another name, so that both can be in one
// program.
#pragma once

#if defined(KITH_EMULATE_CUDA)
#define KITH_GPU emulated_gpu
#else
#define KITH_GPU gpu
#endif
