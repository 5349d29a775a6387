// A run of kith halos: groups, and what is bound of them.
#pragma once

#include "cli/fof_run.hpp"
#include "cli/halo_arguments.hpp"

#include <kith/halos.hpp>

#include <string>
#include <vector>

namespace kith::cli {

struct HaloRun : FofRun {
    using FofRun::FofRun;
    Gravity gravity;
    Halos halos;
};

[[nodiscard]] std::string kernel_name(SofteningKernel kernel);
[[nodiscard]] std::vector<std::string> names_of_spheres(const HaloOptions& options);

} // namespace kith::cli
