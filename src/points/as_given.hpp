// Points as their caller gave them, on the host, where a working copy does not do: to tell points apart that scaling
// has made equal, and to name the one that sets the scale, since a placeholder does.
#pragma once

#include <kith/device_status.hpp>

#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "points/point_set_view.hpp"
#include "points/resolve_frame.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::detail {

/// Points of the host as rows without gaps.
template <class T>
std::vector<T> packed(const PointsView& view) {
    const Coordinates<T> points(view);
    std::vector<T> rows;
    rows.reserve(view.count() * view.dimension());
    for (std::int64_t i = 0; i < view.count(); ++i) {
        for (int axis = 0; axis < view.dimension(); ++axis) {
            rows.push_back(points(i, axis));
        }
    }
    return rows;
}

/// The points of a working copy in memory of the host, in raw units and in the order of their indices, row-major. Those
/// of periodic axes are wrapped; otherwise they are what was given if no coordinate is tiny. `count`: how many they
/// are, where some positions of the copy are no points, but of index -1.
template <Coordinate T>
std::vector<T> unscaled_rows(const Frame<T>& frame, const PointSetView<T>& points, std::int64_t count) {
    const PowerOfTwo<T> scale(-frame.exponent);
    std::vector<T> rows(static_cast<std::size_t>(count) * frame.dimension);
    for (int axis = 0; axis < frame.dimension; ++axis) {
        for (std::int32_t i = 0; i < points.count; ++i) {
            if (const std::int32_t index = points.indices[i]; index >= 0) {
                rows[static_cast<std::size_t>(index) * frame.dimension + axis] = scale(points.axis(axis)[i]);
            }
        }
    }
    return rows;
}

/// The first point with a coordinate as large as the largest, and that coordinate. Point -1: it is a period, or no
/// point at hand has it.
struct LargestCoordinate {
    std::int64_t point = -1;
    std::int32_t axis = -1;
    double value = 0; ///< raw units; without a point, the magnitude
};

template <Coordinate T>
KITH_HOST_DEVICE LargestCoordinate largest_coordinate(const Frame<T>& frame, const Coordinates<T>& points,
                                                      std::int64_t count) noexcept {
    for (std::int64_t point = 0; point < count; ++point) {
        for (int axis = 0; axis < frame.dimension; ++axis) {
            if (magnitude_of(points(point, axis)) == frame.largest) {
                return {point, axis, static_cast<double>(points(point, axis))};
            }
        }
    }
    return {-1, -1, static_cast<double>(frame.largest)};
}

/// The refusal of a length whose square underflows relative to it.
KITH_HOST_DEVICE inline DeviceStatus unresolved_beside(const LargestCoordinate& largest, double length) noexcept {
    return {PointError::length_unresolved, largest.axis, largest.point, length, largest.value};
}

} // namespace kith::detail
