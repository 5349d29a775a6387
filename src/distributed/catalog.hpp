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

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

class Context;

/// Groups of all ranks and particles of one. Arguments have been checked, and compared with those of the other ranks.
struct CatalogOverRanks {
    std::span<const std::int64_t> labels; ///< of this rank's particles
    std::span<const GroupsOfSize> sizes;
    std::int64_t groups;
    const Box& box; ///< in which they were found
    const Particles& particles;
    const CatalogOptions& options;
    const RankOptions& of_ranks;
};

/// This rank's part of the catalog of all ranks.
struct CatalogPart {
    Catalog catalog;                   ///< without members, box and lengths
    std::vector<std::int64_t> members; ///< numbers of the members of its groups
    std::int64_t groups = 0;           ///< of all ranks
    std::int64_t first_group = 0;
    std::int64_t first_member = 0;
};

/// Throws invalid_argument unless sizes decrease, each of one member and one group or more, and are those of as many
/// groups as there are.
void check_sizes(std::span<const GroupsOfSize> sizes, std::int64_t groups);

/// Collective.
CatalogPart catalog_over_ranks(Ranks& ranks, Context& context, const CatalogOverRanks& call);

} // namespace kith::detail
