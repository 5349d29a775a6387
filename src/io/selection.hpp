// Which particle types of a file are read, and the columns that follow from it.
#pragma once

#include <kith/io.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

namespace kith::io {

using SelectedTypes = std::array<bool, max_types>;

/// "type 0: 171, type 1: 3078": the types that have particles; "no particles" if none has.
[[nodiscard]] std::string list_counts(const std::array<std::int64_t, max_types>& counts);

/// Applies the choice to the counts in the header, and adds a warning to it where the choice was automatic and left
/// something out. Files without types ignore the choice and may be empty. Throws Error(invalid_argument) for a type
/// outside 0 to 6 and for a selection without particles.
[[nodiscard]] SelectedTypes select_types(const TypeSelection& selection, SnapshotHeader& header,
                                         const std::filesystem::path& path);

/// Fills snapshot.types (if the file has types) and snapshot.file_rows from the header's counts.
void fill_rows(Snapshot& snapshot, const SelectedTypes& selected);

/// Particles of the selected types.
[[nodiscard]] std::int64_t selected_count(const SnapshotHeader& header, const SelectedTypes& selected);

} // namespace kith::io
