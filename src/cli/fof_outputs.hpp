// The files that kith fof writes.
#pragma once

#include "cli/commands.hpp"
#include "cli/fof_run.hpp"

#include <kith/progress.hpp>

namespace kith::cli {

void plan_outputs(OutputFiles& outputs, const FofArguments& arguments);

/// All but the sorted snapshot.
void write_outputs(const FofArguments& arguments, FofRun& run, const Invocation& invocation);
/// The snapshot in group order, if it was asked for.
void write_sorted(const FofArguments& arguments, FofRun& run, const Invocation& invocation, const Progress& progress);

} // namespace kith::cli
