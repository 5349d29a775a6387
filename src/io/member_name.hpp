// FILE:NAME: one table of a file that holds several, such as halo.h5:/Coordinates or points.npz:positions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kith::io {

struct NamedInput {
    std::filesystem::path file;
    std::optional<std::string> member; ///< what follows the colon
};

/// A name that is a file's is that file, whatever colons it has. Otherwise the longest name in front of a colon that is
/// a file's is the file, and the rest the member. What is neither comes back whole.
[[nodiscard]] NamedInput split_input(const std::filesystem::path& given);

} // namespace kith::io
