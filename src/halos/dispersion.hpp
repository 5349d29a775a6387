// How far velocities spread about their mean, over all particles.
//
// sqrt(sum m |v - mean|^2 / sum m), mean = sum m v / sum m, both over all components. Sums are in fixed point, and the four
// passes are those of a group (vector_moments.hpp), so the number depends neither on order nor on threads. Cost: O(N).
#pragma once

#include <kith/points.hpp>

#include "points/phase_space.hpp"

#include <optional>

namespace kith::detail::halos {

/// 0 for no particles. Without masses, or if all are zero, all count alike. Throws invalid_argument, naming the row, for
/// a mass that is negative or not finite.
double velocity_dispersion(const FiniteVelocities& velocities, const std::optional<ScalarsView>& masses);

} // namespace kith::detail::halos
