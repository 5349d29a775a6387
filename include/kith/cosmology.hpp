// Gravity, the state of a universe, and the densities that define spheres: the only place of their constants.
//
// Sources: IAU 2015 resolution B3 (the mass parameter of the sun), IAU 2012 resolution B2 (the astronomical unit), IAU
// 2015 resolution B2 (the parsec, 648000/pi of them); CODATA 2018 (G, for units in grams); Bryan, Norman (1998), ApJ
// 495, 80, equation 6, for virialized spheres in a flat universe.
#pragma once

#include <cstdint>
#include <numbers>

namespace kith {

namespace constants {

inline constexpr double solar_mass_parameter = 1.3271244e20;                    ///< G M_sun, m^3/s^2
inline constexpr double astronomical_unit = 149597870700;                       ///< m
inline constexpr double gravitational_constant = 6.67430e-11;                   ///< G, m^3/(kg s^2)
inline constexpr double parsec = 648000 / std::numbers::pi * astronomical_unit; ///< m

} // namespace constants

/// G for units of length, mass and velocity of the given numbers of parsecs, solar masses and km/s.
/// Gadget's is gravity_in(1e3, 1e10, 1), 43009.2.
constexpr double gravity_in(double parsecs, double solar_masses, double km_per_second) {
    const double speed = 1e3 * km_per_second;
    return constants::solar_mass_parameter * solar_masses / (constants::parsec * parsecs * speed * speed);
}

/// In units that belong together: G and H for lengths, masses and velocities as given. Positions are comoving,
/// velocities peculiar.
struct Universe {
    double gravity = 1;
    double scale_factor = 1;
    double hubble = 0;       ///< at that scale factor; 0: nothing expands, and there are no densities to compare with
    double omega_matter = 0; ///< at that scale factor: the density of matter over the critical one; 0: unknown
};

/// Mass per comoving volume: 3 H^2/(8 pi G) a^3.
constexpr double critical_density(const Universe& universe) {
    const double a = universe.scale_factor;
    return 3 * universe.hubble * universe.hubble / (8 * std::numbers::pi * universe.gravity) * (a * a * a);
}

enum class DensityReference : std::uint8_t {
    critical,
    matter,       ///< mean density of matter
    bryan_norman, ///< of virialized spheres
};

/// The mean density of a sphere: a factor times the reference.
struct Overdensity {
    DensityReference reference = DensityReference::critical;
    double factor = 1;

    bool operator==(const Overdensity&) const = default;
};

namespace overdensities {

inline constexpr Overdensity mean_200{DensityReference::matter, 200};
inline constexpr Overdensity critical_200{DensityReference::critical, 200};
inline constexpr Overdensity critical_500{DensityReference::critical, 500};
inline constexpr Overdensity critical_2500{DensityReference::critical, 2500};
inline constexpr Overdensity virial{DensityReference::bryan_norman, 1};

} // namespace overdensities

/// Mass per comoving volume; 0 if the universe has no such density.
constexpr double density_of(const Overdensity& overdensity, const Universe& universe) {
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

} // namespace kith
