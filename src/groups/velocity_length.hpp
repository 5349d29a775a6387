// psi, the linking length of velocities, resolved to their units (docs/semantics.md, "Phase space").
#pragma once

#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "support/message.hpp"

#include <cmath>
#include <cstdint>

namespace kith::detail {

/// psi, and what velocities are multiplied by, of `count` points. `dispersion` is read if psi is relative to it. The
/// linking length has been resolved.
inline void resolve_velocity_length(const VelocityLength& length, double dispersion, std::int64_t count,
                                    ResolvedLengths& result) {
    result.velocity_length = length.value();
    if (length.is_relative()) {
        result.velocity_length *= dispersion;
        if (count > 0 && !(result.velocity_length > 0)) {
            throw error(ErrorKind::invalid_argument, of_value(length.value()), "the velocities' linking length is ",
                        length.value(), " times their dispersion, which is ", dispersion,
                        ": all velocities are alike; give a length in their units");
        }
    }
    if (length.is_relative() && std::isinf(result.velocity_length)) {
        throw error(ErrorKind::invalid_argument, of_value(length.value()), "the velocities' linking length is ",
                    length.value(), " times their dispersion, more than float64 can express; give a smaller one");
    }
    if (count == 0 || std::isinf(result.velocity_length)) {
        result.velocity_scale = 0;
        return;
    }
    result.velocity_scale = result.linking_length / result.velocity_length;
    if (result.linking_length == 0) {
        throw Error(ErrorKind::invalid_argument,
                    "the linking length is 0, so velocities cannot be measured by it; give a longer one");
    }
    if (!std::isnormal(result.velocity_scale)) {
        throw error(ErrorKind::invalid_argument, "the linking length ", result.linking_length,
                    " over that of velocities, ", result.velocity_length,
                    ", is beyond what float64 can express; choose other units");
    }
}

/// Throws if the square of the length underflows relative to a velocity, in the frame of phase space.
template <Coordinate T>
void require_resolved(const Frame<T>& frame, std::int64_t count, double linking_length) {
    if (count > 0 && frame.largest > 0 && frame.is_unresolved(linking_length)) {
        check(unresolved_beside({-1, -1, static_cast<double>(frame.largest)}, linking_length));
    }
}

} // namespace kith::detail
