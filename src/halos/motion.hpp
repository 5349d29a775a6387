// How the members of a halo move: mean velocity, dispersion, spin and energy (docs/semantics.md, "Bound halos").
//
// All are about the center of mass, and include the Hubble flow. Sums are in the order of the members, in float64.
// Sources: Springel, Pakmor, Zier, Reinecke (2021), MNRAS 506, 2871 (Gadget-4) for what is summed; Peebles (1969), ApJ
// 155, 393, and Bullock et al. (2001), ApJ 555, 240, for spin parameters. Cost: two passes over the members.
#pragma once

#include <kith/cosmology.hpp>

#include "support/host_device.hpp"

#include <array>
#include <cmath>
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

/// Sums over the members of a halo, each by its weight. The CPU and a GPU share this arithmetic.
struct MotionSums {
    double squared_speeds = 0;
    double depths = 0;
    std::array<double, 3> spin{};
};

/// What a member adds, whose comoving offset is from the center, whose velocity is about the mean.
KITH_HOST_DEVICE inline MotionSums motion_of_member(double weight, const std::array<double, 3>& offset,
                                                    const std::array<double, 3>& velocity, double potential,
                                                    const Universe& universe) noexcept {
    std::array<double, 3> x{};
    std::array<double, 3> u{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        x[axis] = universe.scale_factor * offset[axis];
        u[axis] = velocity[axis] + universe.hubble * x[axis];
    }
    MotionSums terms;
    terms.squared_speeds = weight * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    terms.depths = weight * potential;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t next = (axis + 1) % 3;
        const std::size_t last = (axis + 2) % 3;
        terms.spin[axis] = weight * (x[next] * u[last] - x[last] * u[next]);
    }
    return terms;
}

/// Of members of that weight in all.
KITH_HOST_DEVICE inline Motion motion_from(const std::array<double, 3>& mean_velocity, const MotionSums& sums,
                                           double weight, const Universe& universe) noexcept {
    Motion motion;
    motion.velocity = mean_velocity;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        motion.spin[axis] = sums.spin[axis] / weight;
    }
    motion.dispersion = std::sqrt(sums.squared_speeds / (3 * weight));
    motion.energy = (sums.squared_speeds + universe.gravity / universe.scale_factor * sums.depths) / (2 * weight);
    return motion;
}

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
