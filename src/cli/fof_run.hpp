// A run of kith fof: its points, and the groups that it finds.
#pragma once

#include "cli/fof_arguments.hpp"
#include "cli/map.hpp"
#include "cli/phase_space.hpp"
#include "cli/snapshot_run.hpp"

#include <kith/catalog.hpp>
#include <kith/fof.hpp>
#include <kith/io.hpp>
#include <kith/points.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// One run and what it finds out.
struct FofRun : SnapshotRun {
    using SnapshotRun::SnapshotRun;
    std::vector<std::uint8_t> is_secondary; ///< of each particle; empty: all are linked
    std::optional<double> separation;       ///< mean separation in the universe, if that is the unit of -b
    bool keeps_tree = false;                ///< of one process: the groups are found in `tree`, if they can be
    std::optional<Tree> tree;               ///< of all points
    FofResult groups;
    Catalog catalog;               ///< over ranks the columns alone, of all groups, on rank 0
    bool has_ids = false;          ///< of any particles, on any rank
    std::optional<MapDensity> map; ///< if it is drawn
    std::int64_t in_slice = 0;     ///< points of all ranks in the slice that it shows

    /// Whether the map shows what is at that third coordinate.
    [[nodiscard]] bool shows(const FofArguments& arguments, double z) const {
        return !arguments.slice || arguments.slice->holds(z, box.box.period(2));
    }

    /// Over ranks: this rank's part of the groups, and of their members the rows in the file and the ids.
    Catalog part;
    std::vector<std::int64_t> member_rows;
    std::vector<std::uint64_t> member_ids;

    /// Groups in the catalog, and their members, of all ranks.
    [[nodiscard]] std::int64_t listed(const FofArguments& arguments) const {
        return groups.groups_of_at_least(arguments.min_members);
    }
    [[nodiscard]] std::int64_t grouped(const FofArguments& arguments) const {
        return groups.sizes.members_of_first(listed(arguments));
    }
};

/// The linking length, as the type of the positions has it.
[[nodiscard]] std::string linking_length_of(const FofRun& run);

/// Of groups in phase space.
[[nodiscard]] ComparedVelocities compared_velocities(const FofArguments& arguments, const FofRun& run);

} // namespace kith::cli
