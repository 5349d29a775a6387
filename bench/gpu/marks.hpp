// Marks functions that kernels call as well, and defines nothing else.
#pragma once

#if defined(__CUDACC__)
#define BENCH_HOST_DEVICE __host__ __device__
#else
#define BENCH_HOST_DEVICE
#endif
