// Subnormal numbers count: flush-to-zero and denormals-are-zero, which a host process may have set, are cleared for the
// duration of a task and put back afterwards.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace kith::detail {

class DenormalGuard {
public:
    DenormalGuard(const DenormalGuard&) = delete;
    DenormalGuard& operator=(const DenormalGuard&) = delete;

#if defined(__SSE2__)
    DenormalGuard() : saved_(_mm_getcsr()) {
        _mm_setcsr(saved_ & ~0x8040U);
    }
    ~DenormalGuard() {
        _mm_setcsr(saved_);
    }

private:
    unsigned saved_;
#elif defined(__aarch64__)
    DenormalGuard() {
        asm volatile("mrs %0, fpcr" : "=r"(saved_));
        asm volatile("msr fpcr, %0" : : "r"(saved_ & ~(std::uint64_t{1} << 24)));
    }
    ~DenormalGuard() {
        asm volatile("msr fpcr, %0" : : "r"(saved_));
    }

private:
    std::uint64_t saved_;
#else
    DenormalGuard() = default;
    ~DenormalGuard() = default;
#endif
};

} // namespace kith::detail
