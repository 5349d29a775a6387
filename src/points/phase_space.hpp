// Positions and velocities as points of phase space.
//
// Problem: friends are close in position and velocity together, |dx|^2 / l^2 + |dv|^2 / psi^2 <= 1. Method: these are
// the friends, within l, of points with twice as many coordinates: the position, then the velocity times s = l / psi,
// formed in float64 and rounded to the points' type once; space is open along the latter. See docs/semantics.md, "Phase
// space". Source: GPU halo-finding thesis, equation 3.3. Cost: one pass over the velocities, and one more to copy them.
#pragma once

#include <kith/points.hpp>

#include "points/frame.hpp"
#include "points/point_set.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <array>

namespace kith::detail {

/// A velocity in the units of the points.
template <Coordinate T, Coordinate V>
KITH_HOST_DEVICE T scaled_velocity(V velocity, double scale) noexcept {
    return static_cast<T>(static_cast<double>(velocity) * scale);
}

template <Coordinate T>
struct PhaseSpacePoints {
    NormalizedPoints<T> positions; ///< d axes of them, in a frame of 2 d
    PointsView velocities;
    double scale = 0; ///< from the velocities' units to those of the points

    /// Fills the last axes of points whose positions and indices are there.
    void add_velocities(PointSet<T>& points) const;
};

/// Velocities, all of them finite, and their least and greatest components; 0 if there are none.
struct FiniteVelocities {
    PointsView view;
    std::array<double, max_dimension> lower{};
    std::array<double, max_dimension> upper{};
};

/// Of velocities in memory of the host. Throws for the first that is not finite.
FiniteVelocities finite_velocities(const PointsView& view);
/// The same with known bounds.
template <Coordinate V>
FiniteVelocities finite_velocities(const PointsView& view, const PointBounds<V>& bounds) {
    FiniteVelocities velocities{view};
    if (view.count() > 0) {
        std::copy(bounds.lower.begin(), bounds.lower.end(), velocities.lower.begin());
        std::copy(bounds.upper.begin(), bounds.upper.end(), velocities.upper.begin());
    }
    return velocities;
}

/// As many velocities as positions, of as many components. Throws if the points' type cannot express one that is
/// scaled. The frame is that of points with all these coordinates.
template <Coordinate T>
PhaseSpacePoints<T> in_phase_space(const NormalizedPoints<T>& positions, const Box& box,
                                   const FiniteVelocities& velocities, double scale);

/// The working copy in the order given.
template <Coordinate T>
PointSet<T> gather_points(Context& context, const PhaseSpacePoints<T>& points) {
    PointSet<T> gathered = gather_points(context, points.positions);
    points.add_velocities(gathered);
    return gathered;
}

} // namespace kith::detail
