// The working copy as walks and kernels read it, on the CPU and on a GPU: plain pointers to arrays that others own.
#pragma once

#include <kith/points.hpp>

#include "support/host_device.hpp"

#include <array>
#include <cstdint>

namespace kith::detail {

/// Periods in working coordinates, +infinity on open axes.
template <class T>
using Periods = std::array<T, max_dimension>;

/// Points in working coordinates with their original indices.
template <class T>
struct PointSetView {
    const T* coordinates = nullptr; ///< axis after axis
    std::int64_t stride = 0;        ///< between axes
    std::int32_t count = 0;
    const std::int32_t* indices = nullptr;

    [[nodiscard]] KITH_HOST_DEVICE const T* axis(int a) const noexcept { return coordinates + a * stride; }
};

} // namespace kith::detail
