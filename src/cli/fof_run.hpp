// A run of kith fof: its points, and the groups that it finds.
#pragma once

#include "cli/fof_arguments.hpp"
#include "cli/snapshot_run.hpp"

#include <kith/catalog.hpp>
#include <kith/fof.hpp>
#include <kith/io.hpp>
#include <kith/points.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace kith::cli {

/// One run and what it finds out.
struct FofRun : SnapshotRun {
    using SnapshotRun::SnapshotRun;
    FofResult groups;
    Catalog catalog;
};

/// Of the first rows.
[[nodiscard]] std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot, std::int64_t rows);
[[nodiscard]] std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot);

/// The linking length, as the type of the positions has it.
[[nodiscard]] std::string linking_length_of(const FofRun& run);

/// The linking length of velocities, as a peculiar velocity. Of groups in phase space.
[[nodiscard]] double psi_of(const FofArguments& arguments, const FofRun& run);

} // namespace kith::cli
