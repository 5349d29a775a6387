// Finding the groups of a run of kith fof or kith halos.
#pragma once

#include "cli/fof_run.hpp"

#include <kith/execution.hpp>

namespace kith::cli {

/// Over ranks, refuses engines and kinds of groups that are found within one process only.
void refuse_groups_over_ranks(const FofArguments& arguments, const FofRun& run);

/// Refuses engines and devices that could group no points at all.
void refuse_early(const FofArguments& arguments, FofRun& run);

/// Finds the groups of the run, by the engine that was asked for. Collective.
void find_groups(const FofArguments& arguments, FofRun& run, const Execution& execution);

} // namespace kith::cli
