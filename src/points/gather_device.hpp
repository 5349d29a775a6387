// The working copy of a caller's points in memory of a device.
#pragma once

#include "cuda/device_value.hpp"
#include "points/device_point_set.hpp"
#include "points/gather_kernel.hpp"

namespace kith::detail::inline KITH_GPU {

/// Fills a working copy in the order given.
template <Coordinate T, int D>
void copy_points(DeviceWork& work, const DeviceView<T>& from, const DevicePointSet<T>& to) {
    for_each_index(work, "copying points", from.count,
                   CopyPoints<T, D>{from, {to.indices.data(), to.coordinates.data(), to.stride}});
}

/// The same in the order of its indices.
template <Coordinate T, int D>
void gather_points(DeviceWork& work, const DeviceView<T>& from, const DevicePointSet<T>& to) {
    for_each_index(work, "gathering points", from.count,
                   GatherPoints<T, D>{from, {to.indices.data(), to.coordinates.data(), to.stride}});
}

/// The working copy in the order given.
template <Coordinate T, int D>
DevicePointSet<T> gather_on_device(DeviceWork& work, const NormalizedPoints<T>& normalized) {
    DevicePointSet<T> points(work, normalized.frame, normalized.view.count());
    const DeviceBuffer<DeviceFrame<T>> frame =
        stored(work, "frame of points", DeviceFrame<T>(normalized.frame, normalized.wraps));
    copy_points<T, D>(work, DeviceView<T>::of(normalized.view, frame.data()), points);
    return points;
}

} // namespace kith::detail::inline KITH_GPU
