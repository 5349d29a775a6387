// Centers, masses and sizes of bound halos (docs/semantics.md, "Bound halos").
//
// A halo is centered on its bound member of lowest potential. Spheres of given densities and the largest circular
// velocity are those of all particles about it, or on request of the bound members alone: the center walks down the
// point tree and collects shell after shell (shell_search.hpp), starting from a guess by the halo's mass, until a
// profile (mass_profile.hpp) has found all that is asked for. Outermost crossings are bounded beforehand, by upper
// limits of the mass within radii that shrink (mass_bound.hpp).
//
// Halos are described side by side, each by one thread; sums are in the order of distances, ties by index, or in that
// of the bound members, so threads and the planes of the tree do not show. Cost: linear in the particles within the
// spheres; some 40 bytes for each of the largest halo's.
//
// One row per halo: today a halo is a group's bound part; a group's subhalos will be further rows behind it, with a
// parent.
#pragma once

#include "halos/cosmology.hpp"
#include "halos/potential.hpp"
#include "halos/unbind.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::detail::halos {

/// All particles: the tree of their positions and what it was made of.
template <Coordinate T>
struct ParticleTree {
    const PlaneTree<T>* tree;
    PointsView positions; ///< of the tree's type
    std::optional<ScalarsView> masses = {};
    double uniform_mass = 1;
};

struct SphereOptions {
    Universe universe;
    std::vector<Overdensity> overdensities;
    bool outermost = false;  ///< the last crossing of a density instead of the first
    bool bound_only = false; ///< spheres and velocities of the bound members alone
    double least_radius = 0; ///< of the largest circular velocity, in the units of the positions
};

/// In the units of the input; lengths are comoving. Columns of several numbers are row-major.
struct BoundHalos {
    std::int64_t halos = 0;
    SphereOptions options; ///< with which they were described

    std::vector<std::int64_t> group;          ///< label; ascending
    std::vector<std::int64_t> parent;         ///< halo of which this is a part; -1: none
    std::vector<std::int64_t> first_of_group; ///< of each group, its first halo; -1 if it has none
    std::vector<std::int64_t> offset;         ///< of the bound members in BoundMembers::rows
    std::vector<std::int64_t> count;          ///< bound members
    std::vector<std::int32_t> center_row;     ///< particle at the center

    std::vector<double> center;           ///< its position, inside the box: halos x 3
    std::vector<double> center_of_mass;   ///< of the bound members, inside the box: halos x 3
    std::vector<double> center_offset;    ///< distance between the two
    std::vector<double> mass;             ///< of the bound members
    std::vector<double> group_mass;       ///< of all members of the group
    std::vector<double> unbound_fraction; ///< of the group's mass; 0 if that is 0
    std::vector<double> half_mass_radius; ///< of the bound members
    std::vector<double> sphere_radius;    ///< halos x overdensities; 0 if no sphere has the density
    std::vector<double> sphere_mass;
    std::vector<double> largest_velocity; ///< circular, physical: sqrt(G M/(a r))
    std::vector<double> largest_velocity_radius;
    std::vector<std::uint8_t> is_wide;   ///< 1 if members or spheres reach over more than half a period
    std::vector<std::uint8_t> is_bridge; ///< 1 if the bound members have less than half of the group's mass
};

/// Describes the bound members of groups. Runs inside a stage; the tree has three dimensions.
template <Coordinate T>
BoundHalos describe_halos(Context& context, const ParticleTree<T>& particles, const GroupMembers& groups,
                          const BoundMembers& bound, const SphereOptions& options);

} // namespace kith::detail::halos
