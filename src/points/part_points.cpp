#include "points/part_points.hpp"

#include "points/coordinates.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

namespace kith::detail {

namespace {

/// Rows of the points, or -1 - rows of others.
template <Coordinate T>
std::vector<T> gathered(const PointsView& points, std::span<const std::int32_t> which, const PointsView& others) {
    const Coordinates<T> own(points);
    const Coordinates<T> more(others);
    const int dimension = points.dimension();
    std::vector<T> rows;
    rows.reserve(which.size() * static_cast<std::size_t>(dimension));
    for (const std::int64_t row : which) {
        for (int axis = 0; axis < dimension; ++axis) {
            rows.push_back(row >= 0 ? own(row, axis) : more(-1 - row, axis));
        }
    }
    return rows;
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
                                 const PointsView& others) {
    return held(gathered<T>(points, which, others), points.dimension());
}

template <Coordinate T>
HeldPoints PartPoints<T>::rows_to_send(const PointsView& points, std::span<const std::int32_t> which) {
    return held(rows(points, which), points.dimension());
}

template <Coordinate T>
UnwrittenPoints<T> PartPoints<T>::rows_to_receive(std::int64_t count, int dimension) {
    const auto memory = std::make_shared<std::vector<T>>(static_cast<std::size_t>(count * dimension));
    return {memory->data(), {memory, PointsView(*memory, dimension)}};
}

template <Coordinate T>
void PartPoints<T>::copy(void* to, const void* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
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
