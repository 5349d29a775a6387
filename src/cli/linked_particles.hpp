// Which particles kith fof and kith halos link, which ones only join, and what a relative linking length refers to.
#pragma once

#include "cli/fof_run.hpp"

#include <kith/fof.hpp>
#include <kith/io.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::cli {

/// Adds --secondary-types and --mean-separation; the arguments must outlive the command. After those of
/// add_linking_options() and --types.
void add_linked_particles_options(const Parser& command, FofArguments& arguments);

/// What is read: the types that are linked, and those that join. Throws UsageError for types that are both, and for a
/// file without types.
[[nodiscard]] io::TypeSelection types_to_read(const FofArguments& arguments);

/// 1 for each particle of a secondary type; empty if there is no such type.
[[nodiscard]] std::vector<std::uint8_t> secondaries_of(const FofArguments& arguments, const io::Snapshot& snapshot);

/// Decides on the linking length, once the particles have been read. Warns where it counts particles of unequal masses
/// alike. Throws UsageError where the mean separation in the universe was asked for and is not known.
void resolve_linking_length(FofArguments& arguments, FofRun& run);

/// The linking length that the groups are found at: that of the arguments, or in separations of the universe.
[[nodiscard]] LinkingLength linking_length_for(const FofArguments& arguments, const FofRun& run);

/// Warns if the mean separation in the volume, by which groups have been found, is not that in the universe.
void add_separation_warning(const FofArguments& arguments, FofRun& run);

} // namespace kith::cli
