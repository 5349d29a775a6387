#include "points/part_points.hpp"

#include "points/coordinates.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <cstddef>
#include <utility>

namespace kith::detail {

namespace {

/// Rows of the points, or -1 - rows of others.
template <Coordinate T>
std::vector<T> gathered(const PointsView& points, std::span<const std::int32_t> which, std::span<const T> others) {
    const Coordinates<T> own(points);
    const std::int64_t dimension = points.dimension();
    std::vector<T> rows;
    rows.reserve(which.size() * static_cast<std::size_t>(dimension));
    for (const std::int64_t row : which) {
        for (int axis = 0; axis < dimension; ++axis) {
            rows.push_back(row >= 0 ? own(row, axis) : others[static_cast<std::size_t>((-1 - row) * dimension + axis)]);
        }
    }
    return rows;
}

template <Coordinate T>
HeldPoints held(std::vector<T> rows, int dimension) {
    const auto memory = std::make_shared<const std::vector<T>>(std::move(rows));
    return {memory, PointsView(*memory, dimension)};
}

} // namespace

template <Coordinate T>
PointBounds<T> PartPoints<T>::bounds(const PointsView& points, PointError refusal) {
    PointBounds<T> found;
    context_.run([&] { found = finite_bounds_of<T>(points, refusal); });
    return found;
}

template <Coordinate T>
NormalizedPoints<T> PartPoints<T>::queries(const PointsView& given, const Frame<T>& frame) {
    NormalizedPoints<T> normalized;
    context_.run([&] { normalized = normalize_queries(given, frame); });
    return normalized;
}

template <Coordinate T>
std::int64_t PartPoints<T>::outside(const NormalizedPoints<T>& points) {
    std::int64_t count = 0;
    context_.run([&] { count = count_outside(points.view, points.frame); });
    return count;
}

template <Coordinate T>
HeldPoints PartPoints<T>::on_host(const PointsView& points) {
    return {nullptr, points};
}

template <Coordinate T>
std::vector<T> PartPoints<T>::rows(const PointsView& points, std::span<const std::int32_t> which) {
    return gathered<T>(points, which, {});
}

template <Coordinate T>
HeldPoints PartPoints<T>::joined(const PointsView& points, std::span<const std::int32_t> which,
                                 std::span<const T> others) {
    return held(gathered(points, which, others), points.dimension());
}

template <Coordinate T>
std::vector<T> PartPoints<T>::least_squares(const NormalizedPoints<T>& /*points*/, const ReachedLists<T>& /*lists*/) {
    return {};
}

template <Coordinate T>
FiniteVelocities PartPoints<T>::velocities(const PointsView& view) {
    FiniteVelocities found;
    context_.run([&] { found = finite_velocities(view); });
    return found;
}

template <Coordinate T>
HeldPoints PartPoints<T>::in_phase_space(const PointsView& positions, const PointsView& velocities, double scale) {
    const int dimension = positions.dimension();
    std::vector<T> rows(static_cast<std::size_t>(positions.count() * 2 * dimension));
    const Coordinates<T> x(positions);
    with_dtype(velocities.dtype(), [&]<Coordinate V>(V) {
        const Coordinates<V> v(velocities);
        context_.run([&] {
            parallel_each(positions.count(), 1 << 14, [&](std::int64_t i) {
                T* const row = rows.data() + i * 2 * dimension;
                for (int axis = 0; axis < dimension; ++axis) {
                    row[axis] = x(i, axis);
                    row[dimension + axis] = scaled_velocity<T>(v(i, axis), scale);
                }
            });
        });
    });
    return held(std::move(rows), 2 * dimension);
}

template class PartPoints<float>;
template class PartPoints<double>;

} // namespace kith::detail
