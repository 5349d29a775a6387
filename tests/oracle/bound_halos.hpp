// Potentials, bound members and spherical masses of a group, as docs/semantics.md, "Bound halos", defines them. Sums
// run over all pairs, in float64. Cost: the square of the number of bodies; for unbinding times the number of steps.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace kith::oracle {

/// Positions are comoving and unwrapped: offsets from any point. Velocities are peculiar.
struct Body {
    std::array<double, 3> position{};
    std::array<double, 3> velocity{};
    double mass = 1;
    double internal_energy = 0; ///< per unit of mass
};

/// The factor of -G m in the potential of a mass at distance r, by the name of a kernel: 1/r where nothing is softened.
double spline_kernel(double r, double softening);
double plummer_kernel(double r, double softening);
using Kernel = std::function<double(double r)>;

/// Of each body in the field of all others: minus the sum of m times the kernel.
std::vector<double> potentials(const std::vector<Body>& bodies, const Kernel& kernel);

struct Universe {
    double gravity = 1;      ///< G
    double scale_factor = 1; ///< a
    double hubble = 0;       ///< H(a), a velocity per physical length
    double omega_matter = 0; ///< at a
};

/// Masses per comoving volume.
double critical_density(const Universe& universe);
double mean_density(const Universe& universe);
double virial_density(const Universe& universe); ///< Bryan and Norman

/// Per unit of mass, about the center of mass and the mean velocity of the bodies.
std::vector<double> binding_energies(const std::vector<Body>& bodies, const Kernel& kernel, const Universe& universe);

struct BoundMembers {
    std::vector<std::int64_t> members; ///< by energy, ties by index
    std::vector<double> energies;      ///< of the members, in this order
    std::int64_t deepest = -1;         ///< the member of lowest potential, of several the first; -1 if there are none
};
BoundMembers unbind(const std::vector<Body>& bodies, const Kernel& kernel, const Universe& universe,
                    std::int64_t min_members);

/// Masses at distances from a center, in any order.
struct Shells {
    std::vector<double> radii;
    std::vector<double> masses;
};

/// Of bodies about a center, nearest images. A period of 0 is none.
Shells shells_about(const std::array<double, 3>& center, const std::vector<Body>& bodies,
                    const std::array<double, 3>& period);

struct Sphere {
    double radius = 0; ///< 0 if no sphere has this density
    double mass = 0;
};
/// Where the mean density within first falls below `density`, or last. With `alone`, there is nothing beyond the last
/// shell, so that it always does.
Sphere first_overdensity(const Shells& shells, double density, bool alone = false);
Sphere outermost_overdensity(const Shells& shells, double density, bool alone = false);

struct VelocityPeak {
    double radius = 0;
    double squared_velocity = 0; ///< over G
};
/// Over the distances before the first crossing of `density`; without one, up to `farthest`.
VelocityPeak largest_circular_velocity(const Shells& shells, double least_radius, double density, double farthest);

double half_mass_radius(const Shells& shells);

} // namespace kith::oracle
