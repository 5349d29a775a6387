#include "cli/phase_space.hpp"

#include "cli/linking.hpp"
#include "cli/options.hpp"
#include "cli/peculiar_velocities.hpp"
#include "cli/usage_error.hpp"

#include <kith/spanning_tree.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kith::cli {

void add_psi_options(const Parser& command, std::optional<VelocityLength>& psi, const std::string& what) {
    const Option absolute =
        add_value(command, "--psi", "V",
                  what + " in phase space: friends have |dx|^2/R^2 + |dv|^2/V^2 of 1 or less, R the linking "
                         "length; V is a peculiar velocity in the file's unit, "
                         "as kith info shows them, or inf, for the groups of the positions",
                  psi, [](const std::string& option, const std::string& text) {
                      return VelocityLength::absolute(parse_positive_or_infinite(option, text));
                  });
    add_value(command, "--psi-sigma", "F",
              "The same, with V = F times the dispersion of all velocities, sqrt(sum m |v - mean|^2 / sum m)", psi,
              [](const std::string& option, const std::string& text) {
                  return VelocityLength::sigmas(parse_positive(option, text));
              })
        .excludes(absolute);
}

std::optional<PhaseSpace> phase_space_of(const std::optional<VelocityLength>& psi, const io::Snapshot& snapshot,
                                         const std::string& input) {
    if (!psi) {
        return std::nullopt;
    }
    if (!snapshot.velocities) {
        throw UsageError(fmt::format("'{}' has no velocities, but --psi and --psi-sigma are of velocities; leave them "
                                     "out",
                                     input));
    }
    const Particles particles = particles_of(snapshot);
    return PhaseSpace{*particles.velocities,
                      psi->is_relative() ? *psi
                                         : VelocityLength::absolute(psi->value() / peculiar_factor(snapshot.header)),
                      particles.masses};
}

void try_spanning_tree(const PointsView& none, Engine engine, bool in_phase_space, const Execution& execution) {
    SpanningTreeOptions options{.engine = engine, .execution = execution};
    if (in_phase_space) {
        options.phase_space = PhaseSpaceAt{PhaseSpace{none, VelocityLength::absolute(1)}, LinkingLength::absolute(1)};
    }
    (void)spanning_tree(none, options);
}

double ComparedVelocities::psi() const {
    return given.is_relative() ? velocity_length * peculiar_factor(header) : given.value();
}

void ComparedVelocities::add_to(std::map<std::string, std::string>& parameters) const {
    parameters["psi"] = fmt::format("{}", psi());
    parameters["velocity_scale"] = fmt::format("{}", velocity_scale);
    if (given.is_relative()) {
        parameters["psi_sigma"] = fmt::format("{}", given.value());
    }
}

void ComparedVelocities::add_to(Json& json) const {
    json["psi"] = std::isinf(psi()) ? Json("inf") : Json(psi()); // JSON has no infinity; readers of numbers take a text
    json["psi_sigma"] = given.is_relative() ? Json(given.value()) : Json(nullptr);
    json["velocity_scale"] = velocity_scale;
}

std::string ComparedVelocities::text() const {
    return fmt::format(
        "psi = {:.6g}{}, of {}; {}", psi(), given.is_relative() ? fmt::format(" = {} dispersions", given.value()) : "",
        kind_of_velocities(header.frame.has_value()),
        velocity_scale > 0
            ? fmt::format("stored velocities are multiplied by {:.6g} to be compared with lengths", velocity_scale)
            : "velocities make no difference");
}

} // namespace kith::cli
