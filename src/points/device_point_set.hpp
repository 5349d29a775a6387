// The working copy in memory of a device.
#pragma once

#include "cuda/device_work.hpp"
#include "points/frame.hpp"
#include "points/point_set_view.hpp"

#include <cstdint>
#include <utility>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T>
struct DevicePointSet {
    Frame<T> frame;
    std::int64_t count = 0;
    std::int64_t stride = 0;            ///< between axes
    DeviceBuffer<T> coordinates;        ///< axis after axis
    DeviceBuffer<std::int32_t> indices; ///< original index of each point

    DevicePointSet() = default;
    /// Room for a working copy.
    DevicePointSet(DeviceWork& work, const Frame<T>& its_frame, std::int64_t points)
        : DevicePointSet(work, its_frame, points, work.buffer<std::int32_t>(points)) {}
    /// The same around indices that are there.
    DevicePointSet(DeviceWork& work, const Frame<T>& its_frame, std::int64_t points,
                   DeviceBuffer<std::int32_t> its_indices)
        : frame(its_frame), count(points), stride((points + 31) / 32 * 32),
          coordinates(work.buffer<T>(stride * its_frame.dimension)), indices(std::move(its_indices)) {}

    [[nodiscard]] PointSetView<T> view() const {
        return {coordinates.data(), stride, static_cast<std::int32_t>(count), indices.data()};
    }
};

} // namespace kith::detail::inline KITH_GPU
