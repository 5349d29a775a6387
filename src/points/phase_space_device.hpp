// Positions and velocities as points of phase space in memory of a device: phase_space.hpp's rules.
#pragma once

#include "points/gather_device.hpp"
#include "points/normalize_device.hpp"
#include "points/phase_space.hpp"
#include "support/dimension.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// finite_velocities() for velocities of the device.
template <int D>
FiniteVelocities finite_velocities_on_device(DeviceContext& context, const PointsView& view) {
    return with_dtype(view.dtype(), [&]<Coordinate V>(V) {
        const PointBounds<V> bounds = bounds_on_device<V, D>(context, view);
        if (bounds.first_not_finite != all_are_finite) { // the host's check throws
            (void)finite_velocities(HostCopy(context, view).view());
        }
        return finite_velocities(view, bounds);
    });
}

/// Fills the last axes of a working copy whose indices are there, a thread for each point.
template <class T, int D, class V>
struct AddVelocities {
    Coordinates<V> velocities;
    double scale;
    PowerOfTwo<T> to_working;
    const std::int32_t* indices;
    T* coordinates;      ///< of the copy, axis after axis, from the first of velocities on
    std::int64_t stride; ///< between axes

    __device__ void operator()(std::int64_t i) const {
        const std::int64_t row = indices[i];
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            coordinates[axis * stride + i] = to_working(scaled_velocity<T>(velocities(row, axis), scale)) + T(0);
        }
    }
};

template <Coordinate T, int D>
void add_velocities(DeviceWork& work, const PhaseSpacePoints<T>& from, const DevicePointSet<T>& to) {
    with_dtype(from.velocities.dtype(), [&]<Coordinate V>(V) {
        for_each_index(work, "velocities", to.count,
                       AddVelocities<T, D, V>{Coordinates<V>(from.velocities), from.scale, to.frame.scale,
                                              to.indices.data(), to.coordinates.data() + D * to.stride, to.stride});
    });
}

/// The working copy in the order given.
template <Coordinate T, int D>
DevicePointSet<T> gather_on_device(DeviceWork& work, const PhaseSpacePoints<T>& from) {
    DevicePointSet<T> points = gather_on_device<T, D>(work, from.positions);
    add_velocities<T, D>(work, from, points);
    return points;
}

} // namespace kith::detail::inline KITH_GPU
