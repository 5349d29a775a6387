// What kith halos is asked for, and what its options and the snapshot make of gravity.
#pragma once

#include "cli/fof_run.hpp"

#include <kith/halos.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

struct HaloArguments : FofArguments {
    std::optional<bool> unbind;
    std::optional<std::vector<Overdensity>> overdensities;
    bool outermost = false;
    bool bound_only = false;
    std::optional<Softening> softening;
    std::optional<double> gravity;
    std::optional<double> hubble;
    std::optional<double> omega_matter;
};

/// "200m", "vir", ...
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Overdensity>& overdensities);

/// Adds the options about gravity; the arguments must outlive the command.
void add_gravity_options(const Parser& command, HaloArguments& arguments);

/// The options of the call, as far as they are known; what they leave out, for the file and the warnings.
struct Gravity {
    HaloOptions options;
    double velocity_factor = 1; ///< of stored velocities, to be peculiar
    double energy_factor = 1;   ///< of stored internal energies
    bool is_known = true;       ///< G
    bool is_hubble_known = true;
    std::string softening_from; ///< "--softening", "the file", "1/30 of the mean separation"

    /// G, H and omega_matter by name, as far as they are known.
    [[nodiscard]] std::vector<std::pair<std::string, std::optional<double>>> numbers() const;
};

/// From the options, the header and the types of an overview: the snapshot, or over ranks that of all. Adds warnings
/// that name what is left out, and what to pass for it. Throws UsageError where unbinding was asked for and cannot be
/// done.
[[nodiscard]] Gravity gravity_of(const HaloArguments& arguments, const io::Snapshot& snapshot,
                                 const io::Snapshot& overview, std::vector<std::string>& warnings);

} // namespace kith::cli
