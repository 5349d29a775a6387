// The working copy of a caller's points, in some order, on a GPU: a thread for each point.
#pragma once

#include "cuda/intrinsics.hpp"
#include "points/device_view.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct WorkingCopy {
    std::int32_t* indices;
    T* coordinates;      ///< axis after axis
    std::int64_t stride; ///< between axes

    template <int D>
    __device__ void take(const DeviceView<T>& points, std::int64_t point, std::int64_t to) const {
        const std::array<T, D> x = points.template position<D>(point);
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            coordinates[axis * stride + to] = x[axis];
        }
    }
};

/// In the order of the indices.
template <class T, int D>
struct GatherPoints {
    DeviceView<T> from;
    WorkingCopy<T> to;

    __device__ void operator()(std::int64_t i) const { to.template take<D>(from, to.indices[i], i); }
};

/// In the order given; indices get each point's own.
template <class T, int D>
struct CopyPoints {
    DeviceView<T> from;
    WorkingCopy<T> to;

    __device__ void operator()(std::int64_t i) const {
        to.indices[i] = static_cast<std::int32_t>(i);
        to.template take<D>(from, i, i);
    }
};

} // namespace kith::detail::inline KITH_GPU
