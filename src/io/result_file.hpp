// Files of results that kith itself wrote: how each format recognizes and describes one, and what errors say of it.
//
// .npz and HDF5 files hold arrays and the provenance, by which they are known as kith's; what was computed follows from
// the arrays' names. Tables of groups are text, known by their first column. Labels state nothing but themselves: what
// looks like them is described, whoever wrote it.
#pragma once

#include "io/reader.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

/// Nothing for a file that kith did not write. They throw Error(file) for one that is damaged.
[[nodiscard]] std::optional<ResultFile> describe_npz_result(const std::filesystem::path& path);
[[nodiscard]] std::optional<ResultFile> describe_hdf5_result(const std::filesystem::path& path);
[[nodiscard]] std::optional<ResultFile> describe_group_table(const std::filesystem::path& path, const FileStart& start);
/// Labels, counts and other arrays of one value per row: .npy, and text as Tipsy has it, which begins with their
/// number.
[[nodiscard]] std::optional<ResultFile> describe_values(const std::filesystem::path& path, const FileStart& start);
/// Of a file that no reader of points recognizes: its length alone tells.
[[nodiscard]] std::optional<ResultFile> describe_binary_tipsy_array(const InputFile& file, const FileStart& start);

/// What these arrays are: "neighbors within a radius".
[[nodiscard]] std::string kind_of_result(const std::vector<ResultArray>& arrays);

/// "this holds neighbors within a radius, a result of kith: offsets (5), indices (12); ..." with the advice.
[[nodiscard]] std::string about_result(const ResultFile& result);

/// What a warning says of an array of a result that is read as points: indices of neighbors look like them.
[[nodiscard]] std::string about_member(const ResultFile& result, std::string_view name);

} // namespace kith::io
