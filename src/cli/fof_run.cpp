#include "cli/fof_run.hpp"

#include "cli/linking.hpp"
#include "cli/peculiar_velocities.hpp"

#include <cstddef>
#include <span>
#include <variant>

namespace kith::cli {

namespace {

/// Of the first rows.
std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot, std::int64_t rows) {
    if (!snapshot.masses) {
        return std::nullopt;
    }
    return std::visit([&](const auto& masses) { return ScalarsView(std::span(masses).first(rows)); },
                      snapshot.masses->values);
}

} // namespace

std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot) {
    return masses_of(snapshot, snapshot.positions.rows());
}

Particles particles_of(const FofRun& run) {
    const io::Snapshot& snapshot = run.snapshot;
    Particles particles;
    particles.positions = run.points();
    const std::int64_t rows = particles.positions.count();
    if (snapshot.velocities) {
        particles.velocities = snapshot.velocities->view().subview(0, rows);
    }
    particles.masses = masses_of(snapshot, rows);
    particles.uniform_mass = snapshot.uniform_mass.value_or(1);
    particles.types = std::span(snapshot.types).first(snapshot.types.empty() ? 0 : rows);
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
