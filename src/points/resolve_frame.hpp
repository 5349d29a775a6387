// The rule by which the frame of sources is found, and what is refused on the way: one text for the host and for
// devices.
//
// What is known beforehand are the box and the bounds of the points, all finite. See docs/semantics.md, "Numbers" and
// "Boxes".
#pragma once

#include <kith/device_status.hpp>
#include <kith/points.hpp>

#include "points/frame.hpp"
#include "support/host_device.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace kith::detail {

/// A box as plain numbers; it has been checked.
struct PlainBox {
    std::array<double, max_dimension> period{};
    std::array<double, max_dimension> origin{};
    std::array<bool, max_dimension> has_origin{};

    PlainBox() = default;
    PlainBox(const Box& box, int dimension) {
        for (int axis = 0; axis < dimension; ++axis) {
            period[axis] = box.period(axis);
            has_origin[axis] = box.origin(axis).has_value();
            origin[axis] = box.origin(axis).value_or(0);
        }
    }
};

template <Coordinate T>
KITH_HOST_DEVICE T magnitude_of(T x) noexcept {
    return x < 0 ? -x : x;
}

template <Coordinate T>
KITH_HOST_DEVICE T default_origin(T lower, T upper, T period) noexcept {
    if (lower >= 0 && upper <= period) {
        return 0;
    }
    if (lower >= -period / 2 && upper <= period / 2) {
        return -period / 2;
    }
    return upper - lower <= period ? lower : T(0);
}

/// Fills a new frame. If something is refused, the frame is not one.
template <Coordinate T>
KITH_HOST_DEVICE DeviceStatus resolve_frame(const PlainBox& box, int dimension,
                                            const std::array<T, max_dimension>& lower,
                                            const std::array<T, max_dimension>& upper, Frame<T>& frame) noexcept {
    DeviceStatus status;
    frame.dimension = dimension;
    T largest = 0;
    const auto take = [&largest](T x) { largest = largest < x ? x : largest; };
    for (int axis = 0; axis < max_dimension; ++axis) {
        frame.working_period[axis] = std::numeric_limits<T>::infinity();
    }
    for (int axis = 0; axis < dimension; ++axis) {
        frame.extent[axis] = static_cast<double>(upper[axis]) - static_cast<double>(lower[axis]);
        const T period = static_cast<T>(box.period[axis]);
        take(magnitude_of(lower[axis]));
        take(magnitude_of(upper[axis]));
        take(period);
        if (period == 0) {
            continue;
        }
        status.axis = axis;
        status.limit = static_cast<double>(period);
        if (frame.extent[axis] / 2 > static_cast<double>(period)) {
            status.refusal = PointError::points_too_wide;
            status.value = frame.extent[axis];
            return status;
        }
        frame.periodic = true;
        frame.period[axis] = period;
        frame.origin[axis] =
            box.has_origin[axis] ? static_cast<T>(box.origin[axis]) : default_origin(lower[axis], upper[axis], period);
        const T width = (frame.origin[axis] + period) - frame.origin[axis];
        if (!(width > period / 2 && width < period * 2)) {
            status.refusal = PointError::origin_too_far;
            status.value = static_cast<double>(frame.origin[axis]);
            return status;
        }
    }
    if (largest > 0) {
        int above = 0; // largest < 2^above
        (void)std::frexp(static_cast<double>(largest), &above);
        frame.exponent = working_top<T> - above;
    }
    frame.largest = largest;
    using Limits = std::numeric_limits<T>;
    frame.tiny = PowerOfTwo<T>((Limits::min_exponent - 1) / 2 + Limits::digits - frame.exponent)(T(1));
    frame.scale = PowerOfTwo<T>(frame.exponent);
    for (int axis = 0; axis < dimension; ++axis) {
        if (frame.period[axis] > 0) {
            frame.working_period[axis] = frame.scale(frame.period[axis]);
        }
    }
    return {};
}

/// Whether a coordinate as near to zero as this one is tiny, or an image of one in the box may be: images are multiples
/// of 2^-(digits + 2) of the period, but for those at the origin.
template <Coordinate T>
KITH_HOST_DEVICE bool may_be_tiny(const Frame<T>& frame, T nearest_to_zero) noexcept {
    const T tiny = frame.tiny;
    bool found = nearest_to_zero < tiny;
    for (int axis = 0; axis < frame.dimension; ++axis) {
        const T period = frame.period[axis];
        const T origin = magnitude_of(frame.origin[axis]);
        found = found || (period > 0 && (period < std::ldexp(tiny, std::numeric_limits<T>::digits + 2) ||
                                         (origin > 0 && origin < tiny)));
    }
    return found;
}

/// Whether points with these bounds lie inside every periodic axis.
template <Coordinate T>
KITH_HOST_DEVICE bool all_inside(const Frame<T>& frame, const std::array<T, max_dimension>& lower,
                                 const std::array<T, max_dimension>& upper) noexcept {
    for (int axis = 0; axis < frame.dimension; ++axis) {
        if (!frame.is_inside(lower[axis], axis) || !frame.is_inside(upper[axis], axis)) {
            return false;
        }
    }
    return true;
}

/// An axis on which queries with these bounds are so far away that squared distances may not be numbers, or -1.
template <Coordinate T>
KITH_HOST_DEVICE int axis_too_far(const Frame<T>& frame, const std::array<T, max_dimension>& lower,
                                  const std::array<T, max_dimension>& upper) noexcept {
    // Below this, eight squares add up to a finite number.
    const T far = static_cast<T>(std::ldexp(1.0, std::numeric_limits<T>::max_exponent / 2 - 2));
    for (int axis = 0; axis < frame.dimension; ++axis) {
        const T low = magnitude_of(lower[axis]);
        const T high = magnitude_of(upper[axis]);
        if (frame.period[axis] == 0 && !(frame.scale(low < high ? high : low) < far)) {
            return axis;
        }
    }
    return -1;
}

} // namespace kith::detail
