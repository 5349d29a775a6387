// Kernels of sums over neighbors for a GPU: the operations of kernel_weights.cpp, so the same bits.
#pragma once

#include <kith/sum_neighbors.hpp>

#include "cuda/intrinsics.hpp"

namespace kith::detail::inline KITH_GPU {

__device__ inline double square(double x) {
    return x * x;
}
__device__ inline double fourth_power(double x) {
    return square(square(x));
}
__device__ inline double fifth_power(double x) {
    return fourth_power(x) * x;
}
/// a - x, or 0 where that is negative.
__device__ inline double below(double a, double x) {
    return device_max(a - x, 0.0);
}

/// exp(-9/2 x), as exponential-inl.hpp has it.
__device__ inline double exponential(double x) {
    constexpr double factorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1};
    const double y = x * (-9.0 / 32);
    double power = 1 / factorials[0];
#pragma unroll
    for (int i = 1; i < 13; ++i) {
        power = fused_multiply_add(power, y, 1 / factorials[i]);
    }
    return fourth_power(fourth_power(power));
}

/// w(u).
__device__ inline double kernel_value(SmoothingKernel kernel, double u) {
    const double v = 1 - u;
    switch (kernel) {
    case SmoothingKernel::cubic_spline:
        return u < 0.5 ? fused_multiply_add(square(u), fused_multiply_add(6, u, -6), 1) : 2 * (square(v) * v);
    case SmoothingKernel::quintic_spline: {
        const double q = 3 * u;
        const double middle = fused_multiply_add(-6, fifth_power(below(2, q)), fifth_power(3 - q));
        return fused_multiply_add(15, fifth_power(below(1, q)), middle);
    }
    case SmoothingKernel::wendland_c2:
        return fourth_power(v) * fused_multiply_add(4, u, 1);
    case SmoothingKernel::wendland_c4: {
        const double sixth = fourth_power(v) * square(v);
        return sixth * fused_multiply_add(u, fused_multiply_add(35.0 / 3, u, 6), 1);
    }
    case SmoothingKernel::top_hat:
        return 1;
    case SmoothingKernel::gaussian:
        return exponential(square(u));
    }
    return 0;
}

/// w'(u)/u.
__device__ inline double kernel_slope(SmoothingKernel kernel, double u) {
    const double v = 1 - u;
    switch (kernel) {
    case SmoothingKernel::cubic_spline:
        return u < 0.5 ? fused_multiply_add(18, u, -12) : -6 * square(v) / u;
    case SmoothingKernel::quintic_spline: {
        const double q = 3 * u;
        if (q < 1) {
            return 9 * fused_multiply_add(square(q), fused_multiply_add(-50, q, 120), -120);
        }
        return -45 * fused_multiply_add(-6, fourth_power(below(2, q)), fourth_power(3 - q)) / q;
    }
    case SmoothingKernel::wendland_c2:
        return -20 * (square(v) * v);
    case SmoothingKernel::wendland_c4:
        return -56.0 / 3 * fused_multiply_add(5, u, 1) * fifth_power(v);
    case SmoothingKernel::top_hat:
        return 0;
    case SmoothingKernel::gaussian:
        return -9 * kernel_value(kernel, u);
    }
    return 0;
}

} // namespace kith::detail::inline KITH_GPU
