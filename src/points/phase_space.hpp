// Positions and velocities as points of phase space.
//
// Problem: friends are close in position and velocity together, |dx|^2 / l^2 + |dv|^2 / psi^2 <= 1. Method: these are
// the friends, within l, of points with twice as many coordinates: the position, then the velocity times s = l / psi,
// formed in float64 and rounded to the points' type once; space is open along the latter. See docs/semantics.md, "Phase
// space". Source: GPU halo-finding thesis, equation 3.3. Cost: one pass over the velocities, and one more to copy them.
#pragma once

#include <kith/error.hpp>
#include <kith/points.hpp>

#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "points/point_set.hpp"
#include "points/resolve_frame.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace kith::detail {

/// A velocity in the units of the points.
template <Coordinate T, Coordinate V>
T scaled_velocity(V velocity, double scale) noexcept {
    return static_cast<T>(static_cast<double>(velocity) * scale);
}

template <Coordinate T>
struct PhaseSpacePoints {
    NormalizedPoints<T> positions; ///< d axes of them, in a frame of 2 d
    PointsView velocities;
    double scale = 0; ///< from the velocities' units to those of the points

    /// Fills the last axes of points whose positions and indices are there.
    void add_velocities(PointSet<T>& points) const {
        with_dtype(velocities.dtype(), [&]<Coordinate V>(V) {
            with_dimension(velocities.dimension(), [&]<int D>(std::integral_constant<int, D>) { add<V, D>(points); });
        });
    }

private:
    template <Coordinate V, int D>
    void add(PointSet<T>& points) const {
        constexpr std::int64_t ahead = 24; // rows lie anywhere: more of them than a processor fetches by itself
        std::array<T*, D> scaled;
        for (int axis = 0; axis < D; ++axis) {
            scaled[axis] = points.axis(D + axis);
        }
        parallel_for(0, points.count, 1 << 14,
                     [scaled, source = Coordinates<V>(velocities), to_working = points.frame.scale, factor = scale,
                      rows = points.indices.data()](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i) {
                             __builtin_prefetch(source.axes[0] + rows[std::min(i + ahead, end - 1)] * source.stride);
                             for (int axis = 0; axis < D; ++axis) {
                                 scaled[axis][i] = to_working(scaled_velocity<T>(source(rows[i], axis), factor)) + T(0);
                             }
                         }
                     });
    }
};

/// Velocities in memory of the host, all of them finite, and their least and greatest components; 0 if there are none.
struct FiniteVelocities {
    PointsView view;
    std::array<double, max_dimension> lower{};
    std::array<double, max_dimension> upper{};
};

/// Throws for the first that is not finite.
inline FiniteVelocities finite_velocities(const PointsView& view) {
    FiniteVelocities velocities{view};
    with_dtype(view.dtype(), [&]<Coordinate V>(V) {
        const PointBounds<V> bounds = finite_bounds_of<V>(view, PointError::velocities_not_finite);
        if (view.count() > 0) {
            std::copy(bounds.lower.begin(), bounds.lower.end(), velocities.lower.begin());
            std::copy(bounds.upper.begin(), bounds.upper.end(), velocities.upper.begin());
        }
    });
    return velocities;
}

/// As many velocities as positions, of as many components. Throws if the points' type cannot express one that is
/// scaled. The frame is that of points with all these coordinates.
template <Coordinate T>
PhaseSpacePoints<T> in_phase_space(const NormalizedPoints<T>& positions, const Box& box,
                                   const FiniteVelocities& velocities, double scale) {
    PhaseSpacePoints<T> points{positions, velocities.view, scale};
    const int dimension = positions.view.dimension();
    for (int axis = 0; axis < dimension; ++axis) { // rounding keeps the order of numbers
        const T lower = scaled_velocity<T>(velocities.lower[axis], scale);
        const T upper = scaled_velocity<T>(velocities.upper[axis], scale);
        if (!std::isfinite(lower) || !std::isfinite(upper)) {
            throw error(ErrorKind::invalid_points, "velocities: component ", axis, " is from ", velocities.lower[axis],
                        " to ", velocities.upper[axis], "; times ", scale,
                        ", the linking length over that of velocities, this is more than the points' type can "
                        "express; give a greater length of velocities, or use float64 if this is float32");
        }
        points.positions.lower[dimension + axis] = lower;
        points.positions.upper[dimension + axis] = upper;
    }
    points.positions.frame = {};
    check(resolve_frame(PlainBox(box, dimension), 2 * dimension, points.positions.lower, points.positions.upper,
                        points.positions.frame));
    points.positions.frame.outside = positions.frame.outside;
    return points;
}

/// The working copy in the order given.
template <Coordinate T>
PointSet<T> gather_points(Context& context, const PhaseSpacePoints<T>& points) {
    PointSet<T> gathered = gather_points(context, points.positions);
    points.add_velocities(gathered);
    return gathered;
}

} // namespace kith::detail
