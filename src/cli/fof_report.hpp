// What kith fof tells of a run, once that has found its groups.
#pragma once

#include "cli/fof_run.hpp"
#include "cli/report.hpp"

namespace kith::cli {

/// The facts that --json prints.
[[nodiscard]] Json json_of(const FofArguments& arguments, const FofRun& run);

/// The lines of text: how particles were linked, and into what.
void print_groups(const FofArguments& arguments, const FofRun& run);

} // namespace kith::cli
