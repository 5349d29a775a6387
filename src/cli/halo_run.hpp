// A run of kith halos: groups, and what is bound of them.
#pragma once

#include "cli/fof_run.hpp"
#include "cli/halo_arguments.hpp"

#include <kith/execution.hpp>
#include <kith/halos.hpp>
#include <kith/io.hpp>

namespace kith::cli {

struct HaloRun : FofRun {
    using FofRun::FofRun;
    Gravity gravity;
    Halos halos;             ///< over ranks the columns alone, of all halos, on rank 0; the options on all ranks
    io::Snapshot most_bound; ///< over ranks on rank 0: of the most bound members the rows in the file and the ids

    /// What files of halos are written from.
    [[nodiscard]] const io::Snapshot& described() const { return ranks() != nullptr ? most_bound : snapshot; }
};

/// Finds the halos of the groups, which have been described, and brings the catalog's members into their order. Over
/// ranks each finds a part of the halos, then rank 0 gets the columns of all parts; the members stay where they are.
/// Collective.
void find_halos(const HaloArguments& arguments, HaloRun& run, const Execution& execution);

} // namespace kith::cli
