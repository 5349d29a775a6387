// What Python says of phase space, for groups and spanning trees.
#pragma once

#include "arrays.hpp"

#include <kith/fof.hpp>

#include <nanobind/stl/optional.h>

#include <optional>

namespace kith::python {

inline LinkingLength length_of(double length, bool is_relative) {
    return is_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length);
}

/// Velocities, psi, whether it is in dispersions, and masses; without velocities there is none.
[[nodiscard]] inline std::optional<PhaseSpace> phase_space_of(const std::optional<InputArray>& velocities, double psi,
                                                              bool psi_is_relative,
                                                              const std::optional<InputArray>& masses,
                                                              const Device& device) {
    if (!velocities) {
        return std::nullopt;
    }
    PhaseSpace phase_space{points_of(*velocities, "velocities"),
                           psi_is_relative ? VelocityLength::sigmas(psi) : VelocityLength::absolute(psi)};
    if (masses && psi_is_relative) {
        require_reach(*masses, device, "the array of masses");
        phase_space.masses = scalars_of(*masses, "masses");
    }
    return phase_space;
}

/// The same at a linking length, in memory of the host.
[[nodiscard]] inline std::optional<PhaseSpaceAt> phase_space_at(const std::optional<InputArray>& velocities, double psi,
                                                                bool psi_is_relative,
                                                                const std::optional<InputArray>& masses, double length,
                                                                bool is_relative) {
    const std::optional<PhaseSpace> phase_space = phase_space_of(velocities, psi, psi_is_relative, masses, Device{});
    return phase_space ? std::optional(PhaseSpaceAt{*phase_space, length_of(length, is_relative)}) : std::nullopt;
}

} // namespace kith::python
