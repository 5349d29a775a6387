// The catalog of groups over ranks.
//
// A group whose members are all on one rank is described there, and its row of the columns is sent to the rank that has
// it in its part (group_division.hpp). The members of any other group are sent to that rank, and described there in the
// order of their numbers. Both are described by the code of one process (halos/group_moments.hpp), in units that
// follow from the coordinates and velocities of all ranks; so no bit differs. Cost: that of one process, and the bytes
// of the members of groups that cross ranks, which are few where ranks own regions.
#pragma once

#include <kith/distributed.hpp>

#include "distributed/ranks.hpp"

namespace kith::detail {

/// Collective. Fills all of the result but traffic.
void describe_over_ranks(Ranks& ranks, const DistributedFofResult& groups, const Particles& particles,
                         const CatalogOptions& options, const RankOptions& of_ranks, DistributedCatalogResult& result);

} // namespace kith::detail
