// Motion, spin, shape and concentration of bound members, as docs/semantics.md, "Bound halos", defines them: plain
// loops in float64.
#pragma once

#include "oracle/bound_halos.hpp"

#include <array>
#include <vector>

namespace kith::oracle {

/// Of bodies about their center of mass; velocities are peculiar.
struct Motion {
    std::array<double, 3> velocity{}; ///< mean by mass
    double dispersion = 0;            ///< along an axis, with the Hubble flow
    std::array<double, 3> spin{};     ///< angular momentum per mass, physical
    double energy = 0;                ///< kinetic and potential energy per mass
};
Motion motion(const std::vector<Body>& bodies, const Kernel& kernel, const Universe& universe);

/// Spin parameters of a mass with that length of the spin.
double bullock_parameter(double spin, double mass, const Universe& universe);
double peebles_parameter(double spin, double energy, double mass, const Universe& universe);

/// Axis ratios of 0 or more and 1 or less, and the direction of the longest axis; NaN where there are too few members.
struct Shape {
    double b_to_a;
    double c_to_a;
    std::array<double, 3> major_axis;
};
/// Of offsets from the center, in an ellipsoid with the volume of a ball of that radius.
Shape shape(const std::vector<std::array<double, 3>>& offsets, const std::vector<double>& masses, double radius);

/// The mean distance by mass within a sphere that shells have, over its radius.
double mean_radius(const Shells& shells, const Sphere& sphere);

/// Of a halo of Navarro, Frenk and White with that mean distance over its radius, or that largest circular velocity,
/// squared, over the one at its radius. NaN if it is not from 1 to 1000.
double concentration_of_mean_radius(double ratio);
double concentration_of_peak(double ratio);

} // namespace kith::oracle
