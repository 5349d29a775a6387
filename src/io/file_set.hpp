// The names of a snapshot in several files: `name.0`, `name.1`, ... or `name.0.hdf5`, `name.1.hdf5`, ...
//
// A set is given by any of its files or by its stem, `name` or `name.hdf5`. How many files there are is what the file
// itself says; the others are looked for beside it, and one that is missing is an error that names it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace kith::io {

/// `path` if it exists or nothing else does, else the first file of the set whose stem it is. Throws Error(file) where
/// several sets have that stem.
[[nodiscard]] std::filesystem::path resolve_stem(const std::filesystem::path& path);

/// The `count` files, at least 1, of the set of which `member` is one, in order. Throws Error(file) if the member's
/// name holds no number below `count`, or for the first file that is missing.
[[nodiscard]] std::vector<std::filesystem::path> files_of_set(const std::filesystem::path& member, std::int64_t count);

} // namespace kith::io
