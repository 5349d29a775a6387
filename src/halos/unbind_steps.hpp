// The steps of unbinding, in arithmetic that the CPU and a GPU share (unbind.hpp).
#pragma once

#include <kith/cosmology.hpp>

#include "support/host_device.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kith::detail::halos {

/// The most members that one step removes from those that are left.
KITH_HOST_DEVICE inline std::int64_t most_removed(std::int64_t left) noexcept {
    return std::max<std::int64_t>(5, left / 50);
}

/// Potentials lose the part of those removed, if these are no more than that, and enough of the group is left since
/// potentials were last computed; otherwise they are computed anew.
inline constexpr std::int64_t most_subtracted = 512;
inline constexpr double least_left = 0.8;

inline bool is_subtracted(std::int64_t removed, std::int64_t left_after, std::int64_t computed) noexcept {
    return removed <= most_subtracted && static_cast<double>(left_after) >= least_left * static_cast<double>(computed);
}

/// Energies per unit of mass, about the mean place and velocity of a group.
struct EnergyFrame {
    std::array<double, 3> center;
    std::array<double, 3> velocity;
    double flow;    ///< speed of the Hubble flow per comoving length
    double gravity; ///< in comoving lengths

    KITH_HOST_DEVICE EnergyFrame(const std::array<double, 3>& mean_place, const std::array<double, 3>& mean_velocity,
                                 const Universe& universe) noexcept
        : center(mean_place), velocity(mean_velocity), flow(universe.hubble * universe.scale_factor),
          gravity(universe.gravity / universe.scale_factor) {}

    [[nodiscard]] KITH_HOST_DEVICE double energy(double potential, const std::array<double, 3>& place,
                                                 const std::array<double, 3>& own_velocity,
                                                 double internal_energy) const noexcept {
        double squared_speed = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double speed = own_velocity[axis] - velocity[axis] + flow * (place[axis] - center[axis]);
            squared_speed += speed * speed;
        }
        return gravity * potential + squared_speed / 2 + internal_energy;
    }
};

} // namespace kith::detail::halos
