#include "cli/fof_run.hpp"

#include "cli/linking.hpp"

namespace kith::cli {

std::string linking_length_of(const FofRun& run) {
    return format_length(run.groups.linking_length, run.snapshot.positions.dtype());
}

ComparedVelocities compared_velocities(const FofArguments& arguments, const FofRun& run) {
    return {*arguments.psi, run.groups.velocity_length, run.groups.velocity_scale, run.snapshot.header};
}

} // namespace kith::cli
