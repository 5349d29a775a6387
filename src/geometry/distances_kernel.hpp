// Squared distances for kernels, of a point or a box to points and boxes: the operations of distances-inl.hpp, so the
// same bits, and bounds that need no slack.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
__device__ T add_square(int axis, T t, T sum) {
    return axis == 0 ? t * t : fused_multiply_add(t, t, sum);
}

/// The sum of the squares of on_axis(axis).
template <class T, int D, class OnAxis>
__device__ T sum_of_squares(const OnAxis& on_axis) {
    T sum = 0;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        sum = add_square(axis, on_axis(axis), sum);
    }
    return sum;
}

/// Between two coordinates of an axis, nearest image; its sign goes with the square.
template <bool Periodic, class T>
__device__ T difference_on_axis(T x, T other, T period) {
    T t = x - other;
    if (Periodic) {
        t = t < 0 ? -t : t;
        t = device_min(t, period - t);
    }
    return t;
}

/// The least between two intervals of an axis.
template <bool Periodic, class T>
__device__ T least_on_axis(T lower, T upper, T other_lower, T other_upper, T period) {
    const T nearest = device_max(device_max(other_lower - upper, lower - other_upper), T(0));
    if (!Periodic) {
        return nearest;
    }
    const T farthest = device_max(other_upper - lower, upper - other_lower);
    return device_max(device_min(nearest, period - farthest), T(0));
}

/// The greatest between two intervals of an axis. In a box no two points are farther apart than its period.
template <bool Periodic, class T>
__device__ T greatest_on_axis(T lower, T upper, T other_lower, T other_upper, T period) {
    const T farthest = device_max(other_upper - lower, upper - other_lower);
    if (!Periodic) {
        return farthest;
    }
    const T nearest = device_max(device_max(other_lower - upper, lower - other_upper), T(0));
    return device_min(farthest, period - nearest);
}

/// A point and the space it lies in, in registers.
template <class T, int D, bool Periodic>
class DevicePoint {
public:
    __device__ DevicePoint(const T* coordinates, std::int64_t stride, const T* period) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x_[axis] = coordinates[axis * stride];
            period_[axis] = period[axis];
        }
    }

    /// To the point whose coordinate on an axis `source(axis)` gives.
    template <class Source>
    __device__ T squared_distance(const Source& source) const {
        return sum_of_squares<T, D>(
            [&](int axis) { return difference_on_axis<Periodic>(x_[axis], source(axis), period_[axis]); });
    }

    /// The least to any point of a box.
    template <class Lower, class Upper>
    __device__ T least_squared_distance(const Lower& lower, const Upper& upper) const {
        return sum_of_squares<T, D>([&](int axis) {
            return least_on_axis<Periodic>(x_[axis], x_[axis], lower(axis), upper(axis), period_[axis]);
        });
    }

    /// No point of a box is farther away.
    template <class Lower, class Upper>
    __device__ T greatest_squared_distance(const Lower& lower, const Upper& upper) const {
        return sum_of_squares<T, D>([&](int axis) {
            return greatest_on_axis<Periodic>(x_[axis], x_[axis], lower(axis), upper(axis), period_[axis]);
        });
    }

private:
    T x_[D];
    T period_[D];
};

/// A box and the space it lies in, in registers.
template <class T, int D, bool Periodic>
class DeviceBox {
public:
    template <class Lower, class Upper>
    __device__ DeviceBox(const Lower& lower, const Upper& upper, const T* period) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            lower_[axis] = lower(axis);
            upper_[axis] = upper(axis);
            period_[axis] = period[axis];
        }
    }

    /// The least between any point of this box and any of another.
    template <class Lower, class Upper>
    __device__ T least_squared_distance(const Lower& lower, const Upper& upper) const {
        return sum_of_squares<T, D>([&](int axis) {
            return least_on_axis<Periodic>(lower_[axis], upper_[axis], lower(axis), upper(axis), period_[axis]);
        });
    }

    /// No point of this box and none of the other are farther apart.
    template <class Lower, class Upper>
    __device__ T greatest_squared_distance(const Lower& lower, const Upper& upper) const {
        return sum_of_squares<T, D>([&](int axis) {
            return greatest_on_axis<Periodic>(lower_[axis], upper_[axis], lower(axis), upper(axis), period_[axis]);
        });
    }

    __device__ T squared_diagonal() const {
        return sum_of_squares<T, D>([&](int axis) { return upper_[axis] - lower_[axis]; });
    }

private:
    T lower_[D];
    T upper_[D];
    T period_[D];
};

} // namespace kith::detail::inline KITH_GPU
