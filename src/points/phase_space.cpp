#include "points/phase_space.hpp"

#include <kith/error.hpp>

#include "points/coordinates.hpp"
#include "points/resolve_frame.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kith::detail {

namespace {

template <int D, Coordinate T, Coordinate V>
void add(PointSet<T>& points, const Coordinates<V>& velocities, double scale) {
    constexpr std::int64_t ahead = 24; // rows lie anywhere: more of them than a processor fetches by itself
    std::array<T*, D> scaled;
    for (int axis = 0; axis < D; ++axis) {
        scaled[axis] = points.axis(D + axis);
    }
    parallel_for(0, points.count, 1 << 14,
                 [scaled, source = velocities, to_working = points.frame.scale, factor = scale,
                  rows = points.indices.data()](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                         __builtin_prefetch(source.axes[0] + rows[std::min(i + ahead, end - 1)] * source.stride);
                         for (int axis = 0; axis < D; ++axis) {
                             scaled[axis][i] = to_working(scaled_velocity<T>(source(rows[i], axis), factor)) + T(0);
                         }
                     }
                 });
}

} // namespace

template <Coordinate T>
void PhaseSpacePoints<T>::add_velocities(PointSet<T>& points) const {
    with_dtype(velocities.dtype(), [&]<Coordinate V>(V) {
        with_dimension(velocities.dimension(), [&]<int D>(std::integral_constant<int, D>) {
            add<D>(points, Coordinates<V>(velocities), scale);
        });
    });
}

FiniteVelocities finite_velocities(const PointsView& view) {
    return with_dtype(view.dtype(), [&]<Coordinate V>(V) {
        return finite_velocities(view, finite_bounds_of<V>(view, PointError::velocities_not_finite));
    });
}

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

template PhaseSpacePoints<float> in_phase_space(const NormalizedPoints<float>&, const Box&, const FiniteVelocities&,
                                                double);
template PhaseSpacePoints<double> in_phase_space(const NormalizedPoints<double>&, const Box&, const FiniteVelocities&,
                                                 double);
template struct PhaseSpacePoints<float>;
template struct PhaseSpacePoints<double>;

} // namespace kith::detail
