// Centers, masses and sizes of bound halos (docs/semantics.md, "Bound halos").
//
// A halo is centered on its bound member of lowest potential. Spheres of given densities and the largest circular
// velocity are those of all particles about it, or on request of the bound members alone: the center walks down the
// point tree and collects shell after shell (shell_search.hpp), until the search for the spheres (sphere_search.hpp)
// has found all that is asked for.
//
// Halos are described side by side, each by one thread; sums are in the order of distances, ties by index, or in that
// of the bound members, so threads and the planes of the tree do not show. Cost: linear in the particles within the
// spheres; some 40 bytes for each of the largest halo's.
#pragma once

#include <kith/halos.hpp>

#include "halos/potential.hpp"
#include "halos/unbind.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kith::detail::halos {

/// Makes rows for the groups that have bound members, with the columns that follow from those.
void make_rows(const GroupMembers& groups, const BoundMembers& bound, Halos& halos);

/// Fills the columns of how bound members move, if their velocities are known; needs the masses of the halos.
void write_motions(const BoundMembers& bound, Halos& halos);

/// All particles: the tree of their positions and what it was made of.
template <Coordinate T>
struct ParticleTree {
    const PlaneTree<T>* tree;
    PointsView positions; ///< of the tree's type
    std::optional<ScalarsView> masses = {};
    double uniform_mass = 1;
    std::span<const std::uint8_t> types = {}; ///< empty: all are type 1
};

/// Fills the columns of the halos that groups have, as halos.options says, in which least_radius has been resolved.
/// Runs inside a stage; the tree has three dimensions.
template <Coordinate T>
void describe_halos(Context& context, const ParticleTree<T>& particles, const GroupMembers& groups,
                    const BoundMembers& bound, Halos& halos);

} // namespace kith::detail::halos
