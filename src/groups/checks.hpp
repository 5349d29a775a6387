// What can be said of a search for groups without looking at the points.
#pragma once

#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "points/frame.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <cmath>
#include <cstdint>
#include <span>

namespace kith::detail {

inline void check_length(const LinkingLength& length) {
    if (!(length.value() >= 0) || std::isinf(length.value())) {
        throw error(ErrorKind::invalid_argument, of_value(length.value()),
                    length.is_relative() ? "the relative linking length b" : "the linking length", " is ",
                    length.value(), "; it must be a finite number, 0 or more");
    }
}

inline void check_labels(std::span<const std::int32_t> labels, std::int64_t points) {
    if (std::ssize(labels) != points) {
        throw error(ErrorKind::invalid_argument, "the memory for labels holds ", labels.size(), " of them; ", points,
                    " points need one each");
    }
}

/// Beside points that have been checked. The memory of the velocities is left to the caller.
inline void check_phase_space(const PhaseSpace& phase_space, const PointsOrTree& points) {
    if (points.tree() != nullptr) {
        throw Error(ErrorKind::invalid_argument,
                    "phase space is made of points, not of a tree, which is one of positions; give the points");
    }
    const int dimension = points.dimension();
    const PointsView& velocities = phase_space.velocities;
    if (velocities.count() != points.count() || velocities.dimension() != dimension) {
        throw error(ErrorKind::invalid_argument, "there are ", velocities.count(), " velocities of ",
                    velocities.dimension(), " components for ", points.count(), " points of ", dimension,
                    " coordinates; give each point one, with a component for each coordinate");
    }
    if (!dimension_is_built(2 * dimension)) {
        throw error(ErrorKind::unsupported, "positions and velocities of ", dimension, " dimensions are points of ",
                    2 * dimension,
                    2 * dimension > max_dimension ? "; kith takes at most 8"
                                                  : ", which this build lacks; build kith without the CMake "
                                                    "option KITH_DIMS, and it has all up to 8");
    }
    if (phase_space.masses && phase_space.masses->count() != points.count()) {
        throw error(ErrorKind::invalid_argument, "there are ", phase_space.masses->count(), " masses for ",
                    points.count(), " points; give each point one");
    }
    const VelocityLength& length = phase_space.length;
    if (!(length.value() > 0) || (length.is_relative() && std::isinf(length.value()))) {
        throw error(ErrorKind::invalid_argument, of_value(length.value()), "the linking length of velocities (psi) is ",
                    length.value(),
                    length.is_relative() ? " dispersions; it must be a finite number above 0"
                                         : "; it must be above 0, or infinite");
    }
}

} // namespace kith::detail
