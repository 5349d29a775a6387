// How the members of a halo move: mean velocity, dispersion, spin and energy (docs/semantics.md, "Bound halos").
//
// All are about the center of mass, and include the Hubble flow. Sums are in the order of the members, in float64.
// Sources: Springel, Pakmor, Zier, Reinecke (2021), MNRAS 506, 2871 (Gadget-4) for what is summed; Peebles (1969), ApJ
// 155, 393, and Bullock et al. (2001), ApJ 555, 240, for spin parameters. Cost: two passes over the members.
#pragma once

#include <kith/cosmology.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::halos {

/// Three components of each member.
using Vectors = std::array<std::vector<double>, 3>;

struct Motion {
    std::array<double, 3> velocity{}; ///< mean by mass
    double dispersion = 0;            ///< along an axis
    std::array<double, 3> spin{};     ///< angular momentum per mass, physical
    double energy = 0;                ///< kinetic and potential, per mass
};

/// A group's members: comoving offsets from any point, peculiar velocities and masses.
struct MovingMembers {
    const Vectors& offsets;
    const Vectors& velocities;
    std::span<const double> masses;
};

/// Of the members at those places, whose potentials for G = a = 1 are given in the same order.
[[nodiscard]] Motion motion_of(const MovingMembers& members, std::span<const std::int32_t> places,
                               std::span<const double> potentials, const Universe& universe);

/// Spin parameters of a halo of that mass; NaN where there is no mass, or no density of virialized spheres.
[[nodiscard]] double bullock_parameter(const Motion& motion, double mass, const Universe& universe);
[[nodiscard]] double peebles_parameter(const Motion& motion, double mass, const Universe& universe);

} // namespace kith::detail::halos
