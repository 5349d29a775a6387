// How far velocities spread about their mean, over all particles.
//
// sqrt(sum m |v - mean|^2 / sum m), mean = sum m v / sum m, both over all components. Sums are in fixed point, and the
// passes are those of a group (vector_moments.hpp), so the number depends neither on order nor on threads. Cost: O(N).
#pragma once

#include <kith/points.hpp>

#include "points/phase_space.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::halos {

/// Whether any mass is above 0. Throws invalid_argument, naming the row, for one that is negative or not finite.
bool any_has_mass(const ScalarsView& masses);

/// What ranks share of a dispersion.
struct DispersionOfRanks {
    std::int64_t count = 0; ///< of the particles of all
    bool weighted = false;  ///< by mass, since a particle of some rank has one
    /// Runs a pass over the particles of this rank.
    std::function<void(const std::function<void()>&)> run;
    /// The bytes of all ranks one after the other, as many of each.
    std::function<std::vector<std::byte>(std::span<const std::byte>)> gather;
};
/// The dispersion of the particles of all ranks, on every rank. Collective; the bounds of the velocities are those of
/// all, and masses have been checked.
double velocity_dispersion(const FiniteVelocities& velocities, const std::optional<ScalarsView>& masses,
                           const DispersionOfRanks& ranks);

/// 0 for no particles. Without masses, or if all are zero, all count alike. Throws invalid_argument, naming the row,
/// for a mass that is negative or not finite.
double velocity_dispersion(const FiniteVelocities& velocities, const std::optional<ScalarsView>& masses);

} // namespace kith::detail::halos
