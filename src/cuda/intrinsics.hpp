// CUDA intrinsics, as kernels use them.
//
// Under nvcc these are CUDA's own. Tests compile the same kernels as C++ and run them on the CPU; there, shared memory
// also notices what must not be done to it (tools/cuda_emulation). So kernels keep to what both know: operations of a
// warp name their mask, and shared memory is a SharedArray.
#pragma once

#include <kith/device/portable.hpp>

#include "cuda/namespace.hpp"

#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

#if defined(KITH_EMULATE_CUDA)

using emulation::SharedArray;
using emulation::SharedPlace;

#else

/// Shared memory of a block. Declare it __shared__; nothing is in it until a thread writes it.
template <class T, int Size>
class SharedArray {
public:
    __device__ T& operator[](int index) { return elements_[index]; }
    __device__ T atomic_add(int index, T value) { return atomicAdd(&elements_[index], value); }
    __device__ T atomic_min(int index, T value) { return atomicMin(&elements_[index], value); }
    __device__ T atomic_max(int index, T value) { return atomicMax(&elements_[index], value); }
    __device__ T atomic_or(int index, T value) { return atomicOr(&elements_[index], value); }
    __device__ T atomic_exchange(int index, T value) { return atomicExch(&elements_[index], value); }
    __device__ T atomic_compare_exchange(int index, T expected, T value) {
        return atomicCAS(&elements_[index], expected, value);
    }

private:
    T elements_[Size];
};

/// Where an element of shared memory is. A loop that goes from one to another computes no address anew.
template <class T, int Size>
class SharedPlace {
public:
    __device__ SharedPlace(SharedArray<T, Size>& array, int index)
        : address_(static_cast<unsigned>(__cvta_generic_to_shared(&array[index]))) {}
    __device__ void write(const T& value) const { *static_cast<T*>(__cvta_shared_to_generic(address_)) = value; }
    __device__ SharedPlace operator+(int elements) const {
        SharedPlace sum = *this;
        sum.address_ += static_cast<unsigned>(elements) * sizeof(T);
        return sum;
    }
    /// Of two in one array.
    __device__ int operator-(const SharedPlace& other) const {
        return static_cast<int>(address_ - other.address_) / static_cast<int>(sizeof(T));
    }
    __device__ bool operator<(const SharedPlace& other) const { return address_ < other.address_; }

private:
    unsigned address_;
};

#endif

constexpr int warp_size = 32;
constexpr unsigned whole_warp = ~0U;
constexpr int threads_of_block = 256; ///< where a kernel does not say

/// Index of the thread in its grid, whose blocks are one-dimensional.
__device__ inline std::int64_t thread_index() {
    return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// The lesser and the greater, a where b is NaN. A float's take one instruction instead of two; which zero they return
/// if a and b are zeros of either sign is unspecified.
template <class T>
__device__ T device_min(T a, T b) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>) {
        return fminf(a, b);
    }
#endif
    return b < a ? b : a;
}
template <class T>
__device__ T device_max(T a, T b) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>) {
        return fmaxf(a, b);
    }
#endif
    return a < b ? b : a;
}

// Words through which the threads of a grid talk to each other: atomic, of the device's scope, in no order with other
// words. Under emulation, other threads may go on before each of them, and a load may find an earlier value.

#if defined(KITH_EMULATE_CUDA)

using emulation::compare_exchange_relaxed;
using emulation::load_relaxed;
using emulation::load_relaxed_bits;
using emulation::load_relaxed_through_cache;
using emulation::store_relaxed;

#else

__device__ inline std::int32_t load_relaxed(const std::int32_t* word) {
    std::int32_t value;
    asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(value) : "l"(word));
    return value;
}
/// The same of the bits of a number.
__device__ inline unsigned load_relaxed_bits(const unsigned* word) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word));
    return value;
}
__device__ inline unsigned long long load_relaxed_bits(const unsigned long long* word) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(word));
    return value;
}
/// Any earlier value, if the multiprocessor's cache holds it; faster than the others.
__device__ inline std::int32_t load_relaxed_through_cache(const std::int32_t* word) {
    std::int32_t value;
    asm volatile("ld.relaxed.cta.s32 %0, [%1];" : "=r"(value) : "l"(word));
    return value;
}
__device__ inline void store_relaxed(std::int32_t* word, std::int32_t value) {
    asm volatile("st.relaxed.gpu.s32 [%0], %1;" : : "l"(word), "r"(value));
}
/// Whether the word was as expected, and so holds the value now.
__device__ inline bool compare_exchange_relaxed(std::int32_t* word, std::int32_t expected, std::int32_t value) {
    return atomicCAS(word, expected, value) == expected;
}

#endif

/// a * b + c, rounded once.
__device__ inline float fused_multiply_add(float a, float b, float c) {
    return portable::fused(a, b, c);
}
__device__ inline double fused_multiply_add(double a, double b, double c) {
    return portable::fused(a, b, c);
}

/// The correctly rounded root.
__device__ inline float root(float x) {
    return __fsqrt_rn(x);
}
__device__ inline double root(double x) {
    return __dsqrt_rn(x);
}

} // namespace kith::detail::inline KITH_GPU
