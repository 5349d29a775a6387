// The files that kith halos writes.
#pragma once

#include "cli/commands.hpp"
#include "cli/halo_run.hpp"

#include <kith/catalog_file.hpp>

#include <string>

namespace kith::cli {

[[nodiscard]] std::string kernel_name(SofteningKernel kernel);

void plan_files(const HaloArguments& arguments, OutputFiles& outputs);

/// How the halos of a run were found.
[[nodiscard]] io::Provenance provenance_of(const HaloArguments& arguments, const HaloRun& run,
                                           const Invocation& invocation);

/// All but the sorted snapshot.
void write_files(const HaloArguments& arguments, HaloRun& run, const io::Provenance& made_by, RankFunnel& funnel);

} // namespace kith::cli
