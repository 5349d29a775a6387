// What kith fof, kith hierarchy and kith mst share: linking lengths, particles, the smallest group, labels by row of
// the file.
#pragma once

#include "cli/file_rows.hpp"
#include "cli/options.hpp"
#include "cli/parser.hpp"
#include "cli/report.hpp"

#include <kith/catalog.hpp>
#include <kith/fof.hpp>
#include <kith/index_array.hpp>
#include <kith/io.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::cli {

/// What -b and --linking-length mean.
inline constexpr const char* help_of_b =
    "in mean separations, (V/N)^(1/d), where V is the box or, on open axes, the points' extent";
inline constexpr const char* help_of_linking_length = "in the units of the file, instead of -b";

/// Adds -b, which is 0.2 by default, and --linking-length, of which one excludes the other, and returns them. The
/// length may be optional.
template <class Length>
std::pair<Option, Option> add_linking_length_options(const Parser& command, Length& length) {
    const Option relative =
        add_value(command, "-b", "B", std::string("Linking length ") + help_of_b + "; 0.2 by default", length,
                  [](const std::string& option, const std::string& text) {
                      return LinkingLength::relative(parse_length(option, text));
                  });
    const Option absolute =
        add_value(command, "--linking-length", "R", std::string("Linking length ") + help_of_linking_length, length,
                  [](const std::string& option, const std::string& text) {
                      return LinkingLength::absolute(parse_length(option, text));
                  })
            .excludes(relative);
    return {relative, absolute};
}

/// Adds --min-members.
void add_min_members_option(const Parser& command, std::int64_t& min_members);

/// The particles of a snapshot, as a catalog takes them.
[[nodiscard]] Particles particles_of(const io::Snapshot& snapshot);

/// Adds a warning if a relative linking length counts particles of unequal masses alike.
void add_mass_warning(std::vector<std::string>& warnings, bool is_relative, const io::Snapshot& snapshot);

[[nodiscard]] std::string_view name_of(VolumeKind kind);
/// "0.2 mean separations, in the volume 1 of the box".
[[nodiscard]] std::string describe_relative(std::string_view b, double volume, VolumeKind kind);

/// One label (int32) per row of the file: -1 for rows that were not selected and for labels from `listed` on. The
/// labels must outlive it.
[[nodiscard]] RankArray labels_by_row(const IndexArray& labels, std::int64_t listed, const FileRows& rows);

} // namespace kith::cli
