// Squared distances of one point to another and to a box, for kernels: the operations of distances-inl.hpp, so the same
// bits.
#pragma once

#include "cuda/words.hpp"

#include <cstdint>

namespace kith::detail {

/// A point and the space it lies in, in registers.
template <class T, int D, bool Periodic>
class DevicePlace {
public:
    __device__ DevicePlace(const T* coordinates, std::int64_t stride, const T* period) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x_[axis] = coordinates[axis * stride];
            period_[axis] = period[axis];
        }
    }

    /// To the point whose coordinate on an axis `source(axis)` gives.
    template <class Source>
    __device__ T squared_distance(const Source& source) const {
        T sum = 0;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            T t = x_[axis] - source(axis); // its sign goes with the square
            if (Periodic) {
                t = t < 0 ? -t : t;
                t = least(t, period_[axis] - t);
            }
            sum = add_square(axis, t, sum);
        }
        return sum;
    }

    /// The least to any point of a box.
    template <class Lower, class Upper>
    __device__ T least_squared_distance(const Lower& lower, const Upper& upper) const {
        T sum = 0;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            T nearest = greatest(greatest(lower(axis) - x_[axis], x_[axis] - upper(axis)), T(0));
            if (Periodic) {
                const T farthest = greatest(upper(axis) - x_[axis], x_[axis] - lower(axis));
                nearest = greatest(least(nearest, period_[axis] - farthest), T(0));
            }
            sum = add_square(axis, nearest, sum);
        }
        return sum;
    }

private:
    __device__ static T least(T a, T b) {
        return b < a ? b : a;
    }
    __device__ static T greatest(T a, T b) {
        return a < b ? b : a;
    }
    __device__ static T add_square(int axis, T t, T sum) {
        return axis == 0 ? t * t : fused_multiply_add(t, t, sum);
    }

    T x_[D];
    T period_[D];
};

} // namespace kith::detail
