// A run of kith halos: groups, and what is bound of them.
#pragma once

#include "cli/fof_run.hpp"
#include "cli/halo_arguments.hpp"

#include <kith/halos.hpp>

#include <string>

namespace kith::cli {

struct HaloRun : FofRun {
    using FofRun::FofRun;
    Gravity gravity;
    Halos halos;
};

[[nodiscard]] std::string kernel_name(SofteningKernel kernel);

} // namespace kith::cli
