// What headers for hosts and devices share: marks for functions of both, a fused multiply-add, and what compilers must
// not be allowed to do.
#pragma once

#if __cplusplus < 202002L
#error "kith needs C++20: compile with -std=c++20 or later"
#endif
// What macros show of -ffast-math and its parts; clang's other parts and nvcc's --use_fast_math do not show.
#if defined(__FAST_MATH__) || defined(__NO_SIGNED_ZEROS__) || defined(__ASSOCIATIVE_MATH__) ||                         \
    defined(__RECIPROCAL_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) ||                         \
    (defined(__GCC_IEC_559) && __GCC_IEC_559 == 0)
#error                                                                                                                 \
    "the headers of kith/device do not give exact answers with -ffast-math or a part of it: compile this file without"
#endif

#include <cmath>

#if defined(__CUDACC__)
#define KITH_HOST_DEVICE __host__ __device__
#else
#define KITH_HOST_DEVICE
#endif
#if defined(__CUDA_ARCH__) // the host's compiler does not know it
#define KITH_UNROLL _Pragma("unroll")
#else
#define KITH_UNROLL
#endif

namespace kith::portable {

template <class T>
KITH_HOST_DEVICE constexpr T least_of(T a, T b) {
    return b < a ? b : a;
}
template <class T>
KITH_HOST_DEVICE constexpr T greatest_of(T a, T b) {
    return a < b ? b : a;
}

/// a * b + c, rounded once.
KITH_HOST_DEVICE inline float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
    return __fmaf_rn(a, b, c);
#else
    return std::fma(a, b, c);
#endif
}
KITH_HOST_DEVICE inline double fused(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
    return __fma_rn(a, b, c);
#else
    return std::fma(a, b, c);
#endif
}

} // namespace kith::portable
