// The names of a snapshot in several files: `name.0`, `name.1`, ... or `name.0.hdf5`, `name.1.hdf5`, ...; the numbers
// may be padded with zeros (`name.000`), and may begin with 1.
//
// A set is given by any of its files or by its stem, `name` or `name.hdf5`. How many files there are is what the file
// itself says; the others are looked for beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kith::io {

/// `path` if it exists or nothing else does, else the first file of the set whose stem it is. Throws Error(file) if
/// several sets have that stem, and for a shell's pattern.
[[nodiscard]] std::filesystem::path resolve_stem(const std::filesystem::path& path);

struct FileSet {
    std::vector<std::filesystem::path> files; ///< all, in order; the member alone if there is a fault
    std::string fault;                        ///< the first that is missing, or why they cannot be found
};

/// The set of `count` files, at least 1, of which `member` is one.
[[nodiscard]] FileSet find_set(const std::filesystem::path& member, std::int64_t count);

/// The files of a whole set. Throws Error(file) for any other.
[[nodiscard]] std::vector<std::filesystem::path> files_of_set(const std::filesystem::path& member, std::int64_t count);

} // namespace kith::io
