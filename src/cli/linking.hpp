// What kith fof and kith hierarchy share: linking lengths, the smallest group, labels by row of the file.
#pragma once

#include "cli/file_rows.hpp"
#include "cli/parser.hpp"
#include "cli/report.hpp"

#include <kith/fof.hpp>
#include <kith/index_array.hpp>
#include <kith/io.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

/// What -b and --linking-length mean.
inline constexpr const char* help_of_b =
    "in mean separations, (V/N)^(1/d), where V is the box or, on open axes, the points' extent";
inline constexpr const char* help_of_linking_length = "in the units of the file, instead of -b";

/// Adds --min-members.
void add_min_members_option(const Parser& command, std::int64_t& min_members);

/// Adds a warning if a relative linking length counts particles of unequal masses alike.
void add_mass_warning(std::vector<std::string>& warnings, bool is_relative, const io::Snapshot& snapshot);

[[nodiscard]] std::string_view name_of(VolumeKind kind);
/// "0.2 mean separations, in the volume 1 of the box".
[[nodiscard]] std::string describe_relative(std::string_view b, double volume, VolumeKind kind);

/// One label (int32) per row of the file: -1 for rows that were not selected and for labels from `listed` on. The
/// labels must outlive it.
[[nodiscard]] RankArray labels_by_row(const IndexArray& labels, std::int64_t listed, const FileRows& rows);

} // namespace kith::cli
