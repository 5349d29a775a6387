// The working copy as kernels read it.
#pragma once

#include <kith/points.hpp>

#include "cuda/namespace.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Points in working coordinates in memory of the device, with their original indices.
template <class T>
struct DevicePoints {
    const T* coordinates = nullptr; ///< axis after axis
    std::int64_t stride = 0;        ///< between axes
    std::int32_t count = 0;
    const std::int32_t* indices = nullptr;
};

/// Scaled periods; +infinity on open axes.
template <class T>
using DevicePeriod = std::array<T, max_dimension>;

} // namespace kith::detail::inline KITH_GPU
