// Phase space at the shell: --psi and --psi-sigma of kith fof, kith mst and kith hierarchy, and what is said of them.
#pragma once

#include "cli/parser.hpp"
#include "cli/report.hpp"

#include <kith/fof.hpp>
#include <kith/io.hpp>

#include <map>
#include <optional>
#include <string>

namespace kith::cli {

/// Adds --psi and --psi-sigma: a peculiar velocity, or in dispersions. `what` is found in phase space, such as
/// "Groups".
void add_psi_options(const Parser& command, std::optional<VelocityLength>& psi, const std::string& what);

/// The phase space of all particles of a snapshot; none without psi. Throws UsageError if they have no velocities.
[[nodiscard]] std::optional<PhaseSpace> phase_space_of(const std::optional<VelocityLength>& psi,
                                                       const io::Snapshot& snapshot, const std::string& input);

/// Makes the call of a spanning tree on no points, in phase space or not (try_out.hpp).
void try_spanning_tree(const PointsView& none, Engine engine, bool in_phase_space, const Execution& execution);

/// How velocities were compared with lengths: for files, the JSON summary and the report.
struct ComparedVelocities {
    VelocityLength given;
    double velocity_length; ///< psi as the library resolved it, and what it multiplied velocities by
    double velocity_scale;
    const io::SnapshotHeader& header;

    /// As a peculiar velocity.
    [[nodiscard]] double psi() const;
    void add_to(std::map<std::string, std::string>& parameters) const;
    void add_to(Json& json) const;
    [[nodiscard]] std::string text() const;
};

} // namespace kith::cli
