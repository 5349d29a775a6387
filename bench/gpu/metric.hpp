// Squared distances as docs/semantics.md has them, written out once more so that the benchmark does not check the
// library by itself. Compile without contraction.
#pragma once

#include "marks.hpp"

#include <cmath>

namespace bench {

BENCH_HOST_DEVICE inline float fused(float a, float b, float c) {
    return fmaf(a, b, c);
}
BENCH_HOST_DEVICE inline double fused(double a, double b, double c) {
    return fma(a, b, c);
}

/// Period 0 is open space. All coordinates lie in one period.
template <class T>
BENCH_HOST_DEVICE inline T squared_distance(const T* p, const T* q, int dimension, T period) {
    T sum = 0;
    for (int axis = 0; axis < dimension; ++axis) {
        T apart = p[axis] - q[axis];
        apart = apart < 0 ? -apart : apart;
        if (period > 0 && period - apart < apart) {
            apart = period - apart;
        }
        sum = axis == 0 ? apart * apart : fused(apart, apart, sum);
    }
    return sum;
}

} // namespace bench
