// The queries of a call that the calling thread searches itself (point_search.hpp, point_radius.hpp): read where they
// are, one by one.
#pragma once

#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "points/resolve_frame.hpp"

#include <array>
#include <cmath>
#include <cstdint>

namespace kith::detail {

/// A query in raw units; 0 on axes that it does not have.
template <Coordinate T>
std::array<T, max_dimension> raw_query(const Coordinates<T>& queries, int dimension, std::int64_t row) {
    std::array<T, max_dimension> query{};
    for (int axis = 0; axis < dimension; ++axis) {
        query[axis] = queries(row, axis);
    }
    return query;
}

/// A query in working coordinates.
template <int D, Coordinate T>
std::array<T, D> working_query(const Coordinates<T>& queries, const Frame<T>& frame, std::int64_t row) {
    std::array<T, D> query;
    for (int axis = 0; axis < D; ++axis) {
        query[axis] = frame.load(queries(row, axis), axis);
    }
    return query;
}

/// Whether all are numbers, none is too far and none has a tiny coordinate (points/frame.hpp).
template <Coordinate T>
bool are_in_range(const PointsView& queries, const Frame<T>& frame) {
    const Coordinates<T> coordinates(queries);
    for (std::int64_t row = 0; row < queries.count(); ++row) {
        const std::array<T, max_dimension> query = raw_query(coordinates, queries.dimension(), row);
        for (const T x : query) {
            if (!std::isfinite(x) || (x != 0 && magnitude_of(x) < frame.tiny)) {
                return false;
            }
        }
        if (axis_too_far(frame, query, query) >= 0) {
            return false;
        }
    }
    return true;
}

} // namespace kith::detail
