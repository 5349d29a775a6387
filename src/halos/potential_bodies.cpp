#include "halos/potential_bodies.hpp"

#include "halos/terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::detail::halos {

namespace {

/// The least coordinate along one axis, seen from the first member, of offsets equal in float64 the least as given.
double lowest(const double* x, std::int64_t count, double period) {
    double least = std::numeric_limits<double>::infinity();
    double corner = x[0];
    for (std::int64_t i = 0; i < count; ++i) {
        const double offset = nearest_offset(x[i], x[0], period);
        if (offset < least || (offset == least && x[i] < corner)) {
            least = offset;
            corner = x[i];
        }
    }
    return corner;
}

/// Coordinates, which need not be inside the box, become offsets from the lowest one. Returns the largest.
double to_offsets(double* x, std::int64_t count, double period) {
    const double corner = lowest(x, count, period);
    double largest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        x[i] = offset_from_lowest(x[i], corner, period);
        largest = std::max(largest, x[i]);
    }
    return largest;
}

/// Multiplies by 2^exponent.
void scale(double* x, std::int64_t count, int exponent) {
    const PowerOfTwo<double> power(exponent);
    for (std::int64_t i = 0; i < count; ++i) {
        x[i] = power(x[i]);
    }
}

} // namespace

void BodyArrays::resize(std::int64_t count) {
    for (ScratchArray<double>& array : arrays_) {
        array.reserve(count + potential_lanes);
    }
    count_ = count;
}

void BodyArrays::pad() noexcept {
    for (int axis = 0; axis < 3; ++axis) {
        std::fill_n(position(axis) + count_, potential_lanes, padding_position);
    }
    std::fill_n(mass() + count_, potential_lanes, 0.0);
}

void GroupBodies::load(const Columns& columns, std::span<const std::int32_t> rows, const Softening& given) {
    const std::int64_t count = std::ssize(rows);
    bodies.resize(count);
    double side = 0;
    for (int axis = 0; axis < 3; ++axis) {
        columns.positions.read(rows, axis, bodies.position(axis));
        side = std::max(side, to_offsets(bodies.position(axis), count, columns.box.period[axis]));
    }
    double largest_mass = columns.uniform_mass;
    if (columns.masses) {
        largest_mass = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            bodies.mass()[i] = (*columns.masses)[rows[i]];
            largest_mass = std::max(largest_mass, bodies.mass()[i]);
        }
    } else {
        std::fill_n(bodies.mass(), count, columns.uniform_mass);
    }
    frame = FrameUnits(side, largest_mass, given.length, columns.positions.unit());
    for (int axis = 0; axis < 3; ++axis) {
        scale(bodies.position(axis), count, frame.length_exponent);
    }
    scale(bodies.mass(), count, frame.mass_exponent);
    bodies.pad();
}

} // namespace kith::detail::halos
