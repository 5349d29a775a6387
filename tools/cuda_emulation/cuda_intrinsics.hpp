// The words of CUDA that kernels use, on the CPU.
//
// Only what kernels of this project may use is here: an operation of a warp names its mask, and what has no meaning
// without hardware is missing. Include this before the text of a kernel.
#pragma once

#include "cuda_emulation/grid.hpp"
#include "cuda_emulation/relaxed_words.hpp"
#include "cuda_emulation/shared_array.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static thread_local // one for all blocks in flight: a SharedArray has elements for each of them

namespace kith::emulation::words {

using Where = std::source_location;

template <class T>
std::uint64_t packed(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T>
T unpacked(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

/// What one lane of a shuffle gets from another, which must be there.
template <class T>
T from_lane(const Brought& brought, std::uint32_t mask, int source, const char* name) {
    const HardwareAtWork works;
    if (((mask >> source) & 1U) == 0) {
        fail(std::string(name) + " reads lane " + std::to_string(source) + ", which is not in its mask");
    }
    return unpacked<T>(brought[static_cast<std::size_t>(source)]);
}

template <class T, class Function>
T reduced(const Brought& brought, std::uint32_t mask, const Function& function) {
    const HardwareAtWork works;
    bool any = false;
    T result{};
    for (int lane = 0; lane < warp_size; ++lane) {
        if ((mask >> lane) & 1U) {
            const T value = unpacked<T>(brought[static_cast<std::size_t>(lane)]);
            result = any ? function(result, value) : value;
            any = true;
        }
    }
    return result;
}

/// The lanes of the mask that brought what the function is true of.
template <class Function>
std::uint32_t lanes_that(const Brought& brought, std::uint32_t mask, const Function& function) {
    const HardwareAtWork works;
    std::uint32_t lanes = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        lanes |= function(brought[lane]) ? 1U << lane : 0U;
    }
    return lanes & mask;
}

} // namespace kith::emulation::words

// NOLINTBEGIN(bugprone-reserved-identifier): these names are CUDA's
#define threadIdx (::kith::emulation::here().thread)
#define blockIdx (::kith::emulation::here().block)
#define blockDim (::kith::emulation::here().grid.threads)
#define gridDim (::kith::emulation::here().grid.blocks)

inline void __syncthreads(kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    kith::emulation::meet(kith::emulation::Meeting::block_barrier, ~0U, 0, where);
}
inline void __syncwarp(unsigned mask = ~0U,
                       kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    kith::emulation::meet(kith::emulation::Meeting::warp_barrier, mask, 0, where);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const int lane = kith::emulation::lane();
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::shuffle, mask, words::packed(value), where);
    return words::from_lane<T>(brought, mask, lane / width * width + (source & (width - 1)), "__shfl_sync");
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const int lane = kith::emulation::lane();
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::shuffle, mask, words::packed(value), where);
    const int source = lane ^ lanes;
    return source / width > lane / width ? value : words::from_lane<T>(brought, mask, source, "__shfl_xor_sync");
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = 32,
                 kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const int lane = kith::emulation::lane();
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::shuffle, mask, words::packed(value), where);
    const int source = lane - static_cast<int>(lanes);
    return source < lane / width * width ? value : words::from_lane<T>(brought, mask, source, "__shfl_up_sync");
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32,
                   kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const int lane = kith::emulation::lane();
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::shuffle, mask, words::packed(value), where);
    const int source = lane + static_cast<int>(lanes);
    return source >= (lane / width + 1) * width ? value
                                                : words::from_lane<T>(brought, mask, source, "__shfl_down_sync");
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::ballot, mask, predicate != 0 ? 1 : 0, where);
    return kith::emulation::words::lanes_that(brought, mask, [](std::uint64_t bits) { return bits != 0; });
}
inline int __any_sync(unsigned mask, int predicate,
                      kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::any, mask, predicate != 0 ? 1 : 0, where);
    return kith::emulation::words::reduced<int>(brought, mask, [](int a, int b) { return a | b; });
}
inline int __all_sync(unsigned mask, int predicate,
                      kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::all, mask, predicate != 0 ? 1 : 0, where);
    return kith::emulation::words::reduced<int>(brought, mask, [](int a, int b) { return a & b; });
}
template <class T>
T __reduce_add_sync(unsigned mask, T value,
                    kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const auto& brought =
        kith::emulation::meet(kith::emulation::Meeting::reduce_add, mask, words::packed(value), where);
    return words::reduced<T>(brought, mask, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
T __reduce_min_sync(unsigned mask, T value,
                    kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const auto& brought =
        kith::emulation::meet(kith::emulation::Meeting::reduce_min, mask, words::packed(value), where);
    return words::reduced<T>(brought, mask, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
T __reduce_max_sync(unsigned mask, T value,
                    kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const auto& brought =
        kith::emulation::meet(kith::emulation::Meeting::reduce_max, mask, words::packed(value), where);
    return words::reduced<T>(brought, mask, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value,
                          kith::emulation::words::Where where = kith::emulation::words::Where::current()) {
    namespace words = kith::emulation::words;
    const std::uint64_t mine = words::packed(value);
    const auto& brought = kith::emulation::meet(kith::emulation::Meeting::match_any, mask, mine, where);
    return words::lanes_that(brought, mask, [mine](std::uint64_t other) { return other == mine; });
}

inline int __popc(unsigned bits) {
    return std::popcount(bits);
}
inline int __popcll(unsigned long long bits) {
    return std::popcount(bits);
}
inline int __ffs(int bits) {
    return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
inline int __clz(int bits) {
    return std::countl_zero(static_cast<unsigned>(bits));
}
inline int __clzll(long long bits) {
    return std::countl_zero(static_cast<unsigned long long>(bits));
}
inline float __fsqrt_rn(float x) {
    return std::sqrt(x);
}
inline double __dsqrt_rn(double x) {
    return std::sqrt(x);
}
template <class T>
T __ldg(const T* address) {
    return *address;
}

// Threads change places only where they meet or yield, so that these are atomic as they are; where every access is
// watched (watch.cpp), these are told to the watch by themselves.
template <class T>
KITH_UNWATCHED T atomicAdd(T* address, T value) {
    kith::emulation::before_atomic(address, sizeof *address);
    const T old = *address;
    *address = static_cast<T>(old + value);
    return old;
}
template <class T>
KITH_UNWATCHED T atomicMin(T* address, T value) {
    kith::emulation::before_atomic(address, sizeof *address);
    const T old = *address;
    *address = value < old ? value : old;
    return old;
}
template <class T>
KITH_UNWATCHED T atomicMax(T* address, T value) {
    kith::emulation::before_atomic(address, sizeof *address);
    const T old = *address;
    *address = old < value ? value : old;
    return old;
}
template <class T>
KITH_UNWATCHED T atomicOr(T* address, T value) {
    kith::emulation::before_atomic(address, sizeof *address);
    const T old = *address;
    *address = static_cast<T>(old | value);
    return old;
}
template <class T>
KITH_UNWATCHED T atomicExch(T* address, T value) {
    kith::emulation::before_atomic(address, sizeof *address);
    const T old = *address;
    *address = value;
    return old;
}
template <class T>
KITH_UNWATCHED T atomicCAS(T* address, T expected, T value) {
    kith::emulation::before_atomic(address, sizeof *address);
    const T old = *address;
    *address = old == expected ? value : old;
    return old;
}
// NOLINTEND(bugprone-reserved-identifier)
