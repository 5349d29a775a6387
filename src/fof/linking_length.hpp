// Linking lengths: checked, and resolved to the units of the points.
#pragma once

#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "points/frame.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kith::detail {

inline void check_length(const LinkingLength& length) {
    if (!(length.value() >= 0) || std::isinf(length.value())) {
        throw Error(ErrorKind::invalid_argument,
                    message(length.is_relative() ? "the relative linking length b" : "the linking length", " is ",
                            length.value(), "; it must be a finite number, 0 or more"));
    }
}

/// b (V / N)^(1/d), and the V that was used.
template <Coordinate T>
void resolve_length(const LinkingLength& length, const Frame<T>& frame, std::int64_t count, FofSummary& result) {
    double radius = length.value();
    if (length.is_relative()) {
        double volume = 1;
        double scaled = 1; // the same in working units, which neither overflows nor vanishes
        int periodic_axes = 0;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            const double edge = frame.period[axis] > 0 ? static_cast<double>(frame.period[axis]) : frame.extent[axis];
            volume *= edge;
            scaled *= std::ldexp(edge, frame.exponent);
            periodic_axes += frame.period[axis] > 0 ? 1 : 0;
        }
        if (count > 0 && scaled == 0) {
            throw Error(ErrorKind::invalid_argument,
                        "the volume for a relative linking length is zero: the points have no extent on an open axis; "
                        "give an absolute linking length");
        }
        const double root = 1.0 / frame.dimension;
        const auto points = static_cast<double>(std::max<std::int64_t>(count, 1));
        radius =
            length.value() * (std::isnormal(volume) ? std::pow(volume / points, root)
                                                    : std::ldexp(std::pow(scaled / points, root), -frame.exponent));
        result.volume = volume;
        result.volume_kind = periodic_axes == 0                 ? VolumeKind::extent
                             : periodic_axes == frame.dimension ? VolumeKind::box
                                                                : VolumeKind::mixed;
    }
    result.linking_length = static_cast<double>(static_cast<T>(radius));
    if (!std::isfinite(result.linking_length)) {
        throw Error(ErrorKind::invalid_argument,
                    message("the linking length comes to ", radius, ", more than ",
                            sizeof(T) == 4 ? "float32" : "float64", " points can be apart; give a smaller one"));
    }
}

template <Coordinate T>
T squared_length(const Frame<T>& frame, const FofSummary& result) {
    const T radius = frame.load_radius(result.linking_length);
    return radius * radius;
}

} // namespace kith::detail
