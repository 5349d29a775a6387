// Concentrations of profiles by Navarro, Frenk and White (1996, ApJ 462, 563), from two numbers that need no fit.
//
// The concentration c is the radius of a sphere over the radius at which the density falls as r^-2. The mean distance
// by mass within the sphere decreases with c; the largest circular velocity over that at the sphere's radius increases.
// Each is solved by Newton's steps from the largest c on, which descend, since the equations are convex there. Sums,
// products and quotients alone, so that the bits are the same on every machine. Cost: some five steps. Sources: Wang et
// al. (2024), MNRAS 527, 1580, for the mean distance; Klypin et al. (2011), ApJ 740, 102, for the velocity.
#pragma once

namespace kith::detail::halos {

/// From the mean distance by mass over the sphere's radius. NaN unless the answer is from 1 to 1000.
[[nodiscard]] double concentration_of_mean_radius(double ratio);

/// From the square of the largest circular velocity over that at the sphere's radius. NaN if that is below 1, or the
/// answer above 1000. Only of peaks within the sphere, from which those beyond cannot be told.
[[nodiscard]] double concentration_of_peak(double ratio);

} // namespace kith::detail::halos
