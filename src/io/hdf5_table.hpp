// Any dataset of an HDF5 file as points, and what datasets a file holds, for messages.
#pragma once

#include <kith/io.hpp>

#include <hdf5.h>

#include <filesystem>
#include <string>

namespace kith::io::hdf5 {

/// "/Group/GroupPos (17 x 3), /Group/GroupMass (17)": the datasets under `group`, an absolute name, with their shapes.
/// Long lists end in "...".
[[nodiscard]] std::string list_datasets(hid_t file, const std::string& group, const std::string& file_name);

/// The first of them that can be points; empty if there is none.
[[nodiscard]] std::string first_points(hid_t file, const std::string& file_name);

/// The dataset `member` as points. Throws Error(file), listing what the file holds, for what is none of points.
[[nodiscard]] SnapshotHeader table_header(const std::filesystem::path& path, const std::string& member);
[[nodiscard]] Snapshot table_snapshot(const std::filesystem::path& path, const std::string& member,
                                      const ReadOptions& options);

} // namespace kith::io::hdf5
