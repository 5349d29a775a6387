// <bit> for code that kernels run as well.
//
// The standard library's functions of 64 bits call a builtin that only the host has. In a kernel nvcc (13.0, with
// libstdc++ 12) puts a constant in its place and says nothing: std::bit_width of 64 bits is 0 there.
#pragma once

#include "support/host_device.hpp"

#include <bit>

namespace kith::detail {

/// Bits up to the highest that is set; 0 for 0.
template <class Word>
KITH_HOST_DEVICE int bit_width(Word word) noexcept {
    static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(Word) == 8) {
        return 64 - __clzll(static_cast<long long>(word));
    } else {
        return 32 - __clz(static_cast<int>(word));
    }
#else
    return static_cast<int>(std::bit_width(word));
#endif
}

/// The largest power of two up to a number above 0.
template <class Word>
KITH_HOST_DEVICE Word bit_floor(Word word) noexcept {
    return Word{1} << (bit_width(word) - 1);
}

} // namespace kith::detail
