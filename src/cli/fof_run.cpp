#include "cli/fof_run.hpp"

#include "cli/linking.hpp"
#include "cli/peculiar_velocities.hpp"

#include <variant>

namespace kith::cli {

Particles particles_of(const FofRun& run) {
    const io::Snapshot& snapshot = run.snapshot;
    Particles particles;
    particles.positions = snapshot.positions.view();
    if (snapshot.velocities) {
        particles.velocities = snapshot.velocities->view();
    }
    if (snapshot.masses) {
        particles.masses = std::visit([](const auto& masses) { return ScalarsView(masses); }, snapshot.masses->values);
    }
    particles.uniform_mass = snapshot.uniform_mass.value_or(1);
    particles.types = snapshot.types;
    return particles;
}

std::string linking_length_of(const FofRun& run) {
    return format_length(run.groups.linking_length, run.snapshot.positions.dtype());
}

double psi_of(const FofArguments& arguments, const FofRun& run) {
    return arguments.psi->is_relative() ? run.groups.velocity_length * peculiar_factor(run.snapshot.header)
                                        : arguments.psi->value();
}

} // namespace kith::cli
