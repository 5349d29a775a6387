// The frame in which a set of source points is worked on.
//
// Coordinates are brought into a frame once, on load: -0.0 becomes +0.0, coordinates outside a periodic axis are
// wrapped into it, and everything is scaled by one power of two that takes the largest absolute source coordinate or
// period into [2^47, 2^48) in float32, [2^31, 2^32) in float64, so that squares neither overflow nor vanish. Radii are
// scaled alike; distances are scaled back. See docs/semantics.md, "Numbers" and "Boxes".
//
// Which distances have a square with all its digits: two different numbers of p digits differ by 2^-p of the larger one
// or more. So differences along an axis, and between a difference and the period, are 0 or at least the root of the
// smallest normal square if every coordinate that is not 0, and every period, is 2^p times that root or more. Smaller
// ones are called tiny: where there are none, nothing can be unresolved.
#pragma once

#include <kith/device_status.hpp>
#include <kith/error.hpp>
#include <kith/points.hpp>

#include "support/host_device.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace kith::detail {

/// x * 2^exponent, rounded once, for exponents beyond what one power of two in T can express.
template <Coordinate T>
class PowerOfTwo {
public:
    PowerOfTwo() = default;
    KITH_HOST_DEVICE explicit PowerOfTwo(int exponent)
        : first_(std::ldexp(1.0, exponent / 2)), second_(std::ldexp(1.0, exponent - exponent / 2)) {
        const int limit = std::numeric_limits<T>::max_exponent - 2;
        single_ = exponent >= -limit && exponent <= limit ? static_cast<T>(std::ldexp(1.0, exponent)) : T(0);
    }
    // For float the double products are exact. For double, if the first product is subnormal the second is zero
    // whatever its rounding; otherwise the first is exact. So there is one rounding.
    [[nodiscard]] KITH_HOST_DEVICE T operator()(T x) const noexcept {
        return single_ != 0 ? x * single_ : static_cast<T>(static_cast<double>(x) * first_ * second_);
    }
    /// The power itself if it is an ordinary number of type T, so that one multiplication rounds once; else 0.
    [[nodiscard]] KITH_HOST_DEVICE T as_factor() const noexcept { return single_; }

private:
    double first_ = 1;
    double second_ = 1;
    T single_ = 1;
};

/// In working units the largest absolute source coordinate or period is below 2^this, and not below half of that.
template <Coordinate T>
inline constexpr int working_top = sizeof(T) == 4 ? 48 : 32;

template <Coordinate T>
struct Frame {
    int dimension = 0;
    int exponent = 0;         ///< working = raw * 2^exponent
    bool periodic = false;    ///< on any axis
    bool has_tiny = false;    ///< some source coordinate is tiny, or some period so short that an image may be
    std::int64_t outside = 0; ///< sources outside a periodic axis, as far as the host counted them
    T largest = 0;            ///< absolute source coordinate or period, raw units
    T tiny = 0;               ///< what tiny coordinates are nearer to 0 than, raw units
    PowerOfTwo<T> scale;
    std::array<T, max_dimension> period{};         ///< raw units; 0 on open axes
    std::array<T, max_dimension> origin{};         ///< raw units
    std::array<T, max_dimension> working_period{}; ///< scaled; +infinity on open axes, so that min(t, L - t) is t
    std::array<double, max_dimension> extent{};    ///< of the raw sources

    /// A raw coordinate on its axis, ready for work.
    [[nodiscard]] KITH_HOST_DEVICE T load(T x, int axis) const noexcept {
        return scale(wrap(x, axis)) + T(0); // + 0 turns -0.0, and negatives too small to remain, into +0.0
    }

    /// Inside [origin, origin + period]: bit for bit; outside: the image inside, computed in float64, rounded once.
    [[nodiscard]] KITH_HOST_DEVICE T wrap(T x, int axis) const noexcept {
        if (is_inside(x, axis)) {
            return x;
        }
        const T start = origin[axis];
        const double length = period[axis];
        const double turns = std::floor((static_cast<double>(x) - static_cast<double>(start)) / length);
        const T y = static_cast<T>(static_cast<double>(x) - length * turns);
        if (!(y >= start)) { // below, or not a number because the turns overflowed
            return start;
        }
        return y - start <= period[axis] ? y : last_inside(axis);
    }

    /// Whether a raw coordinate needs no wrapping.
    [[nodiscard]] KITH_HOST_DEVICE bool is_inside(T x, int axis) const noexcept {
        return period[axis] == 0 || (x >= origin[axis] && x - origin[axis] <= period[axis]);
    }

    /// The largest raw coordinate inside a periodic axis.
    [[nodiscard]] KITH_HOST_DEVICE T last_inside(int axis) const noexcept {
        T y = origin[axis] + period[axis];
        while (y - origin[axis] > period[axis]) {
            y = std::nextafter(y, origin[axis]);
        }
        return y;
    }

    /// A radius given in raw units: rounded to T once, then scaled. May be +infinity.
    [[nodiscard]] KITH_HOST_DEVICE T load_radius(double radius) const noexcept { return scale(static_cast<T>(radius)); }
    [[nodiscard]] KITH_HOST_DEVICE T squared_radius(double radius) const noexcept {
        const T loaded = load_radius(radius);
        return loaded * loaded;
    }

    /// Whether a radius, in raw units, is not 0 but its square underflows relative to the largest coordinate.
    [[nodiscard]] KITH_HOST_DEVICE bool is_unresolved(double radius) const noexcept {
        return radius > 0 && squared_radius(radius) < std::numeric_limits<T>::min();
    }
};

/// Checks all of a box but what takes the points: its axes, and that periods and origins are numbers of the points'
/// type.
template <Coordinate T>
void check_box(const Box& box, int dimension);

/// Checks a view's count, addresses and stride. `what` names the argument in messages ("points", "queries").
void check_memory(const PointsView& view, const char* what);
/// The same, and that the dimension is built and the points can be counted.
void check_shape(const PointsView& view, const char* what);
/// The same, and that the host can read it.
void check_view(const PointsView& view, const char* what);

inline constexpr std::int64_t all_are_finite = std::numeric_limits<std::int64_t>::max();

/// What one pass over points tells. The least and greatest coordinates, in raw units, mean something only if all are
/// finite.
template <Coordinate T>
struct PointBounds {
    std::array<T, max_dimension> lower;
    std::array<T, max_dimension> upper;
    T nearest_to_zero = std::numeric_limits<T>::infinity(); ///< absolute value of a coordinate that is not 0
    std::int64_t first_not_finite = all_are_finite;         ///< the first point that is not

    PointBounds() {
        lower.fill(std::numeric_limits<T>::infinity());
        upper.fill(-std::numeric_limits<T>::infinity());
    }
    void join(const PointBounds& other) {
        for (int axis = 0; axis < max_dimension; ++axis) {
            lower[axis] = std::min(lower[axis], other.lower[axis]);
            upper[axis] = std::max(upper[axis], other.upper[axis]);
        }
        nearest_to_zero = std::min(nearest_to_zero, other.nearest_to_zero);
        first_not_finite = std::min(first_not_finite, other.first_not_finite);
    }
};

/// A caller's points and the frame in which they are worked on. They have been checked.
template <Coordinate T>
struct NormalizedPoints {
    PointsView view;
    Frame<T> frame;
    std::array<T, max_dimension> lower{}; ///< least coordinates of all points, raw units; 0 if there are none
    std::array<T, max_dimension> upper{};
    bool wraps = false;    ///< some lie outside a periodic axis
    bool has_tiny = false; ///< some coordinate is tiny in the frame, or an image of one may be
};

/// The bounds of points of the host, or of velocities; throws the refusal at the first that is not finite.
template <Coordinate T>
PointBounds<T> finite_bounds_of(const PointsView& view, PointError refusal);

/// The number of points of the host outside a periodic axis.
template <Coordinate T>
std::int64_t count_outside(const PointsView& view, const Frame<T>& frame);

/// Checks the sources (finite, extent within twice the period) and the box, and resolves origins and scale.
template <Coordinate T>
NormalizedPoints<T> normalize_sources(const PointsView& points, const Box& box);
/// The same for points that need not be the host's, with bounds that somebody else found: all finite. Points outside a
/// periodic axis are not counted.
template <Coordinate T>
NormalizedPoints<T> normalize_sources(const PointsView& points, const Box& box, const PointBounds<T>& bounds);

/// Checks queries, of the sources' type and dimension, against their frame: finite, and near enough that the square of
/// every distance is a finite number.
template <Coordinate T>
NormalizedPoints<T> normalize_queries(const PointsView& queries, const Frame<T>& frame);
/// Its parts, for queries that need not be the host's: type and dimension; the place, with bounds that somebody else
/// found; an axis on which some are too far away, or -1.
void check_queries(const PointsView& queries, int dimension, DType dtype);
template <Coordinate T>
NormalizedPoints<T> normalize_queries(const PointsView& queries, const Frame<T>& frame, const PointBounds<T>& bounds);
template <Coordinate T>
int axis_too_far(const NormalizedPoints<T>& queries);

/// What is wrong with a length of PointError::length_unresolved, to follow its name and value.
std::string unresolved_length(const DeviceStatus& status);
ErrorDetails unresolved_details(const DeviceStatus& status);

/// The box with its origins resolved, in raw units.
template <Coordinate T>
Box resolved_box(const Frame<T>& frame);

/// A power of two above every raw source coordinate and period, but at most 2^1023.
template <Coordinate T>
double coordinates_below(const Frame<T>& frame) {
    return std::ldexp(1.0, std::min(working_top<T> - frame.exponent, 1023));
}

} // namespace kith::detail
