// The files that kith halos writes.
#pragma once

#include "cli/commands.hpp"
#include "cli/halo_run.hpp"

#include <kith/progress.hpp>

namespace kith::cli {

void plan_files(const HaloArguments& arguments, OutputFiles& outputs);

void write_files(const HaloArguments& arguments, HaloRun& run, const Invocation& invocation, const Progress& progress);

} // namespace kith::cli
