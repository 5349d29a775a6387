// Linking lengths and phase space as Python gives them, for groups and spanning trees.
#pragma once

#include "arrays.hpp"

#include <kith/fof.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

namespace kith::python {

inline const char* name_of(VolumeKind kind) {
    constexpr std::array<const char*, 4> names = {"none", "box", "extent", "mixed"}; // in the order of the kinds
    return names[static_cast<std::size_t>(kind)];
}

inline LinkingLength length_of(double length, bool is_relative) {
    return is_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length);
}

/// A linking length from Python: the number, and whether it is relative.
using LengthArgument = std::pair<double, bool>;

inline LinkingLength length_of(const LengthArgument& length) {
    return length_of(length.first, length.second);
}

/// Phase space from Python: None, or velocities, psi, whether psi is in dispersions, and masses.
using PhaseSpaceArgument = std::optional<std::tuple<InputArray, double, bool, std::optional<InputArray>>>;

[[nodiscard]] inline std::optional<PhaseSpace> phase_space_of(const PhaseSpaceArgument& given) {
    if (!given) {
        return std::nullopt;
    }
    const auto& [velocities, psi, psi_is_relative, masses] = *given;
    PhaseSpace phase_space{points_of(velocities, "velocities"),
                           psi_is_relative ? VelocityLength::sigmas(psi) : VelocityLength::absolute(psi)};
    if (masses && psi_is_relative) {
        if (device_of(masses->device_type(), masses->device_id()) != Device{}) {
            throw Error(ErrorKind::invalid_argument,
                        "the array of masses lies in the memory of a GPU, but the "
                        "dispersion of velocities is found on the CPU; copy it to the host");
        }
        phase_space.masses = scalars_of(*masses, "masses");
    }
    return phase_space;
}

/// The same at a linking length.
[[nodiscard]] inline std::optional<PhaseSpaceAt> phase_space_at(const PhaseSpaceArgument& given,
                                                                const LengthArgument& length) {
    const std::optional<PhaseSpace> phase_space = phase_space_of(given);
    return phase_space ? std::optional(PhaseSpaceAt{*phase_space, length_of(length)}) : std::nullopt;
}

} // namespace kith::python
