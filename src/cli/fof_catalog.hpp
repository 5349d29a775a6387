// The catalog of a run of kith fof.
#pragma once

#include "cli/fof_run.hpp"

#include <kith/execution.hpp>

namespace kith::cli {

/// Describes the groups of the run. Over ranks each rank describes a part of them, then rank 0 gets the columns of all
/// parts, one row a group; the members stay where they are. Collective.
void describe_groups(const FofArguments& arguments, FofRun& run, const Execution& execution);

} // namespace kith::cli
