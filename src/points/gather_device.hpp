// The working copy of a caller's points in memory of a device.
#pragma once

#include "cuda/launch.hpp"
#include "points/device_point_set.hpp"
#include "points/gather_kernel.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// The working copy in the order given.
template <Coordinate T, int D>
DevicePointSet<T> gather_on_device(DeviceWork& work, const NormalizedPoints<T>& normalized) {
    const std::int64_t count = normalized.view.count();
    DevicePointSet<T> points(work, normalized.frame, count);
    launch_threads(work, "copying points", copy_points_kernel<T, D>, count,
                   {DeviceView<T>::of(normalized), points.indices.data(), points.coordinates.data(), points.stride});
    return points;
}

} // namespace kith::detail::inline KITH_GPU
