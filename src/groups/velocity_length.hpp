// Phase space resolved: psi, the linking length of velocities, in their units, and what follows from it
// (docs/semantics.md, "Phase space").
#pragma once

#include <kith/error.hpp>
#include <kith/fof.hpp>

#include "groups/linking_length.hpp"
#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "points/phase_space.hpp"
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

/// Both lengths, and the points of phase space that follow from them. find_largest() is as resolve_length() takes it;
/// find_velocities() gives the velocities, all of them finite, and dispersion_of(velocities) is called if psi is
/// relative to it.
template <Coordinate T, class FindLargest, class FindVelocities, class DispersionOf>
PhaseSpacePoints<T> resolve_phase_space(const NormalizedPoints<T>& positions, const Box& box, const PhaseSpaceAt& at,
                                        ResolvedLengths& lengths, const FindLargest& find_largest,
                                        const FindVelocities& find_velocities, const DispersionOf& dispersion_of) {
    const std::int64_t count = positions.view.count();
    resolve_length(at.linking_length, positions.frame, count, lengths, find_largest);
    const FiniteVelocities velocities = find_velocities();
    const VelocityLength& psi = at.phase_space.length;
    resolve_velocity_length(psi, psi.is_relative() ? dispersion_of(velocities) : 0, count, lengths);
    PhaseSpacePoints<T> points = in_phase_space(positions, box, velocities, lengths.velocity_scale);
    require_resolved(points.positions.frame, count, lengths.linking_length);
    return points;
}

} // namespace kith::detail
