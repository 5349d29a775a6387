// The softening of gravity and the least radius of circular velocities, where the caller gives none.
#pragma once

#include <kith/error.hpp>
#include <kith/halos.hpp>

#include "groups/resolve_length.hpp"
#include "points/frame.hpp"

#include <cmath>
#include <cstdint>

namespace kith::detail::halos {

/// A spline, in a fraction of the mean separation of so many particles; none of no groups.
template <Coordinate T>
Softening default_softening(const Frame<T>& frame, std::int64_t particles, std::int64_t groups) {
    constexpr double in_separations = 1.0 / 30;
    const double length = in_separations * separation_of(frame, particles).mean;
    if (length > 0 && std::isfinite(length)) {
        return {SofteningKernel::spline, length};
    }
    if (groups > 0) {
        throw Error(ErrorKind::invalid_argument, "the particles have no volume, so there is no mean separation to take "
                                                 "a softening from; pass the softening");
    }
    return {};
}

template <Coordinate T>
void resolve_softening(HaloOptions& options, const Frame<T>& frame, std::int64_t particles, std::int64_t groups) {
    if (!options.softening) {
        options.softening = default_softening(frame, particles, groups);
    }
    if (!options.least_radius) {
        options.least_radius = options.softening->length;
    }
}

} // namespace kith::detail::halos
