// Bound halos over ranks.
//
// A group is unbound on the rank that has most of its members, the lowest of several, where those of other ranks are
// brought to in the order of their numbers (grouped_particles.hpp). Particles about the centers are collected from all
// ranks, shell after shell (shell_exchange.hpp), so that the search for spheres of one process adds them in its order;
// some halos at a time, so that what a rank holds of others stays bounded. Rows and members then go to the rank that
// has the group in its part of a catalog (group_division.hpp). Everything is computed by the code of one process
// (halos/unbind.hpp, halos/halo_describer.hpp), in the frame of all ranks; so no bit differs. The parts do not depend
// on where particles are, so those that are rebalanced (rebalance.hpp) move with all their columns, and nothing
// returns. Cost: that of one
// process, and the bytes of members on other ranks than their group's, and of the particles in shells.
#pragma once

#include <kith/distributed.hpp>
#include <kith/halos.hpp>

#include "distributed/ranks.hpp"

namespace kith::detail {

class Context;

/// Groups of all ranks and particles of one. Arguments have been checked, and compared with those of the other ranks.
struct HalosOverRanks {
    const FofResult& groups; ///< with 64-bit labels of this rank's particles
    const Particles& particles;
    const HaloOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. This rank's part of the halos of all ranks.
Halos halos_over_ranks(Ranks& ranks, Context& context, const HalosOverRanks& call);

} // namespace kith::detail
