// Gravity, the state of a universe, and the densities that define spheres: the only place of their constants.
//
// Sources: IAU 2015 resolution B3 (the mass parameter of the sun), IAU 2012 resolution B2 (the astronomical unit), IAU
// 2015 resolution B2 (the parsec, 648000/pi of them); Bryan, Norman (1998), ApJ 495, 80, equation 6, for virialized
// spheres in a flat universe.
#pragma once

#include <cmath>
#include <numbers>

namespace kith::detail::halos {

inline constexpr double solar_mass_parameter = 1.3271244e20; ///< G M_sun, m^3/s^2
inline constexpr double astronomical_unit = 149597870700;    ///< m
inline constexpr double parsec = 648000 / std::numbers::pi * astronomical_unit;

/// G for lengths in parsecs, masses in those of the sun, and velocities in km/s, each times its unit here.
constexpr double gravity_in(double parsecs, double solar_masses, double km_per_second) {
    return solar_mass_parameter * solar_masses / (parsec * parsecs * (1e3 * km_per_second) * (1e3 * km_per_second));
}

/// In units that belong together: G and H for lengths, masses and velocities as given.
struct Universe {
    double gravity = 1;
    double scale_factor = 1; ///< positions are comoving
    double hubble = 0;       ///< at that time; velocities are peculiar
    double omega_matter = 0; ///< at that time: the density of matter over the critical one; 0 if unknown
};

/// Mass per comoving volume, 0 if H is 0: 3 H^2/(8 pi G) a^3.
inline double critical_density(const Universe& universe) {
    const double a = universe.scale_factor;
    return 3 * universe.hubble * universe.hubble / (8 * std::numbers::pi * universe.gravity) * (a * a * a);
}

/// What the density of a sphere is compared with.
enum class DensityReference { critical, matter, bryan_norman };

/// A sphere's mean density: a factor times the reference.
struct Overdensity {
    DensityReference reference = DensityReference::critical;
    double factor = 1;
};

/// Circular velocities count within the first sphere of this density.
inline constexpr Overdensity density_of_peaks{DensityReference::matter, 200};

/// Mass per comoving volume; 0 if the universe has no such density.
inline double density_of(const Overdensity& overdensity, const Universe& universe) {
    const double critical = overdensity.factor * critical_density(universe);
    if (overdensity.reference == DensityReference::critical) {
        return critical;
    }
    const double omega = universe.omega_matter;
    if (overdensity.reference == DensityReference::matter || omega == 0) {
        return omega * critical;
    }
    const double x = omega - 1;
    return (18 * std::numbers::pi * std::numbers::pi + 82 * x - 39 * x * x) * critical;
}

} // namespace kith::detail::halos
