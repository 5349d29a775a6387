// What an HDF5 snapshot holds, found out once for its header and for its particles.
#pragma once

#include "io/hdf5_handle.hpp"

#include <kith/io.hpp>

#include <array>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

namespace kith::io::hdf5 {

struct SnapshotFile {
    std::string name; ///< for messages
    File file;
    SnapshotHeader header;
    std::array<double, max_types> mass_table{}; ///< 0 where there is none

    /// Opens PartType<type>/<one of the names>; nothing if the group has none of them.
    [[nodiscard]] std::optional<Dataset> find(std::size_t type, std::initializer_list<const char*> names) const;
};

/// Throws Error(file) for HDF5 files that are no snapshots, Error(unsupported) for one part of several.
[[nodiscard]] SnapshotFile open_snapshot(const std::filesystem::path& path);

} // namespace kith::io::hdf5
