// Which particle types of a file are read, and the columns that follow from it.
#pragma once

#include <kith/io.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace kith::io {

using SelectedTypes = std::array<bool, max_types>;

/// "type 0: 171, type 1: 3078": the types that have particles; "no particles" if none has.
[[nodiscard]] std::string list_counts(const std::array<std::int64_t, max_types>& counts);

/// Applies the choice to the counts in the header, and adds a warning to it where the choice was automatic and left
/// something out. Files without types ignore the choice and may be empty. Throws Error(invalid_argument) for a type
/// outside 0 to 6 and for a selection without particles.
[[nodiscard]] SelectedTypes select_types(const TypeSelection& selection, SnapshotHeader& header,
                                         const std::filesystem::path& path);

/// Some of the selected rows.
struct RowRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    [[nodiscard]] std::int64_t count() const noexcept { return end - begin; }
};

/// The rows of a share, of so many. Throws Error(invalid_argument) for a share that does not exist.
[[nodiscard]] RowRange rows_of_share(const RowShare& share, std::int64_t rows);

/// Fills snapshot.types (if the file has types) and snapshot.file_rows from the header's counts.
void fill_rows(Snapshot& snapshot, const SelectedTypes& selected, const RowShare& share = {});

/// Drops all rows but those of the share.
void keep_share(Snapshot& snapshot, const RowShare& share);

/// Particles of the selected types.
[[nodiscard]] std::int64_t selected_count(const SnapshotHeader& header, const SelectedTypes& selected);

/// The functions of the Reader of a format whose files are read whole: File has a header, and reads the columns of the
/// selected types.
template <class File>
SnapshotHeader header_of_whole(const std::filesystem::path& path) {
    return File(path).header();
}
template <class File>
Snapshot snapshot_of_whole(const std::filesystem::path& path, const ReadOptions& options) {
    File file(path);
    const SelectedTypes selected = select_types(options.types, file.header(), path);
    Snapshot snapshot = file.read(options, selected);
    snapshot.header = std::move(file.header());
    fill_rows(snapshot, selected);
    return snapshot;
}

} // namespace kith::io
