// What an HDF5 snapshot holds, found out once for its header and for its particles.
#pragma once

#include "io/hdf5_handle.hpp"
#include "io/particle_source.hpp"

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace kith::io::hdf5 {

struct SnapshotFile {
    std::string name; ///< for messages
    File file;

    /// Opens PartType<type>/<one of the names>; nothing if the group has none of them.
    [[nodiscard]] std::optional<Dataset> find(std::size_t type, std::initializer_list<const char*> names) const;
};

/// "PartType0"
[[nodiscard]] std::string group_name(std::size_t type);

/// Names of the parameters of a run that are kept from a file's attributes.
[[nodiscard]] std::span<const char* const> kept_parameter_names() noexcept;

/// Throws Error(file) for HDF5 files that are no snapshots.
[[nodiscard]] SnapshotFile open_snapshot(const std::filesystem::path& path);
[[nodiscard]] FileSummary summarize(const SnapshotFile& snapshot);

} // namespace kith::io::hdf5
