// The catalog of groups over ranks.
//
// A group whose members are all on one rank is described there, and its row of the columns is sent to the rank that has
// it in its part (group_division.hpp). The members of any other group are sent to that rank, and described there in the
// order of their numbers. Both are described by the code of one process (halos/part_describer.hpp), on the CPU or the
// GPU of the rank, in units that follow from the coordinates and velocities of all ranks; so no bit differs. Cost: that
// of one process, and the bytes of the members of groups that cross ranks, which are few where ranks own regions.
#pragma once

#include <kith/catalog.hpp>
#include <kith/distributed.hpp>

#include "distributed/part_vectors.hpp"
#include "distributed/ranks.hpp"
#include "halos/part_describer.hpp"

namespace kith::detail {

class Context;

/// Groups of all ranks and particles of one. Arguments have been checked, and compared with those of the other ranks.
struct CatalogOverRanks {
    const FofResult& groups; ///< with 64-bit labels of this rank's particles
    const Particles& particles;
    const CatalogOptions& options;
    const RankOptions& of_ranks;
};

/// Collective. This rank's part of the catalog of all ranks, with its place among the parts. Groups are described by
/// what on_gpu() makes, if there is such a function, else by the CPU, and particles read by what vectors_on_gpu()
/// makes.
Catalog catalog_over_ranks(Ranks& ranks, Context& context, const CatalogOverRanks& call,
                           const halos::MakePartDescriber& on_gpu, const MakePartVectors& vectors_on_gpu);

} // namespace kith::detail
