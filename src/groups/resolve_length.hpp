// The rule by which a linking length becomes one in the units of the points: one text for the host and for devices.
#pragma once

#include <kith/device_status.hpp>
#include <kith/fof.hpp>

#include "points/frame.hpp"
#include "support/host_device.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail {

struct ResolvedLength {
    double length = 0; ///< rounded to the points' type
    double volume = 0; ///< of a relative one
    VolumeKind volume_kind = VolumeKind::none;
};

/// The root of that degree of a number that is not negative. Its last bits are the same wherever it is taken, which
/// those of pow() are not: the steps are sums, products and quotients, each rounded as IEEE 754 says.
KITH_HOST_DEVICE inline double root_of(double x, int degree) noexcept {
    if (!(x > 0)) {
        return 0;
    }
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent); // in [1/2, 1)
    int quotient = exponent / degree;
    quotient += quotient * degree < exponent ? 1 : 0;
    const double reduced = std::ldexp(mantissa, exponent - quotient * degree); // in [2^-degree, 1)
    double root = 1;
    while (true) { // Newton's steps come down to the root, until rounding stops them
        double power = 1;
        for (int i = 1; i < degree; ++i) {
            power *= root;
        }
        const double next = root - (root * power - reduced) / (degree * power);
        if (!(next < root)) {
            return std::ldexp(root, quotient);
        }
        root = next;
    }
}

/// Rounds a length in the units of the points to their type.
template <Coordinate T>
KITH_HOST_DEVICE DeviceStatus round_length(double length, ResolvedLength& result) noexcept {
    result.length = static_cast<double>(static_cast<T>(length));
    if (!(result.length <= static_cast<double>(std::numeric_limits<T>::max()))) {
        return {PointError::length_too_large, 0, 0, length, static_cast<double>(std::numeric_limits<T>::max())};
    }
    return {};
}

/// What relative linking lengths are relative to, and which lengths are refused.
struct Separation {
    double mean = 0; ///< (V / N)^(1/d)
    double volume = 0;
    VolumeKind volume_kind = VolumeKind::none;
    bool is_defined = true; ///< false: V is zero
    double shortest = 0;    ///< of the lengths above 0 whose squares do not vanish (Frame::is_unresolved)
    double largest = 0;     ///< coordinate or period, beside which they do
};

/// Of so many points.
template <Coordinate T>
KITH_HOST_DEVICE Separation separation_of(const Frame<T>& frame, std::int64_t count) noexcept {
    Separation result;
    result.volume = 1;
    double scaled = 1; // the volume in working units, which neither overflows nor vanishes
    int periodic_axes = 0;
    for (int axis = 0; axis < frame.dimension; ++axis) {
        const double edge = frame.period[axis] > 0 ? static_cast<double>(frame.period[axis]) : frame.extent[axis];
        result.volume *= edge;
        scaled *= std::ldexp(edge, frame.exponent);
        periodic_axes += frame.period[axis] > 0 ? 1 : 0;
    }
    result.is_defined = count == 0 || scaled != 0;
    if (count > 0 && frame.largest > 0) { // the root of the smallest normal number is a power of two
        result.shortest = std::ldexp(1.0, (std::numeric_limits<T>::min_exponent - 1) / 2 - frame.exponent);
        result.largest = static_cast<double>(frame.largest);
    }
    const auto points = static_cast<double>(count > 1 ? count : 1);
    const bool is_normal =
        result.volume >= std::numeric_limits<double>::min() && result.volume <= std::numeric_limits<double>::max();
    result.mean = is_normal ? root_of(result.volume / points, frame.dimension)
                            : std::ldexp(root_of(scaled / points, frame.dimension), -frame.exponent);
    result.volume_kind = periodic_axes == 0                 ? VolumeKind::extent
                         : periodic_axes == frame.dimension ? VolumeKind::box
                                                            : VolumeKind::mixed;
    return result;
}

/// b times the mean separation.
template <Coordinate T>
KITH_HOST_DEVICE DeviceStatus resolve_relative(double b, const Separation& separation,
                                               ResolvedLength& result) noexcept {
    if (!separation.is_defined) {
        return {PointError::no_volume};
    }
    result.volume = separation.volume;
    result.volume_kind = separation.volume_kind;
    return round_length<T>(b * separation.mean, result);
}

template <Coordinate T>
KITH_HOST_DEVICE DeviceStatus resolve_length(double value, bool is_relative, const Frame<T>& frame, std::int64_t count,
                                             ResolvedLength& result) noexcept {
    const Separation separation = is_relative ? separation_of(frame, count) : Separation{1};
    const DeviceStatus status =
        is_relative ? resolve_relative<T>(value, separation, result) : round_length<T>(value, result);
    const double length = value * separation.mean; // before it is rounded
    if (status.refusal == PointError::none && count > 0 && frame.largest > 0 && frame.is_unresolved(length)) {
        return {PointError::length_unresolved, -1, -1, length, static_cast<double>(frame.largest)};
    }
    return status;
}

} // namespace kith::detail
