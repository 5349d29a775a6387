#include "halos/potential_bodies.hpp"

#include "halos/terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::detail::halos {

namespace {

constexpr int least_softening = -300; ///< shorter ones, as powers of two in the frame, are this long: squares remain

/// Of images, in periods: a member that seems so much nearer to the corner from the other side lies on it.
constexpr double rounding_of_images = 0x1p-40;

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
        double offset = x[i] - corner;
        if (period > 0 && (offset < 0 || offset >= period)) { // an image, where a box edge lies between
            offset -= period * std::floor(offset / period);
        }
        const bool is_below = period > 0 && offset > period * (1 - rounding_of_images);
        x[i] = is_below ? 0.0 : std::max(offset, 0.0);
        largest = std::max(largest, x[i]);
    }
    return largest;
}

/// e with 2^(e - 1) <= x < 2^e; 0 for 0.
int exponent_of(double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return exponent;
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
        std::fill_n(position(axis) + count_, potential_lanes, -1.0); // no point is there
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
    const int length_exponent = bits_of_side - exponent_of(side);
    const int mass_exponent = 1 - exponent_of(largest_mass);
    for (int axis = 0; axis < 3; ++axis) {
        scale(bodies.position(axis), count, length_exponent);
    }
    scale(bodies.mass(), count, mass_exponent);
    bodies.pad();
    softening = std::max(std::ldexp(given.length / columns.positions.unit(), length_exponent),
                         std::ldexp(1.0, least_softening));
    unit = largest_mass == 0 ? 0 : std::ldexp(1 / columns.positions.unit(), length_exponent - mass_exponent);
}

} // namespace kith::detail::halos
