// The columns of a snapshot that kith density sums: --fields, --statistics and --density-gradient.
//
// A field is a number of each point. Velocities are one field per axis. What a file has one number of for all points,
// as the mass of one type, is a column of stride 0.
#pragma once

#include "cli/parser.hpp"

#include <kith/io.hpp>
#include <kith/points.hpp>
#include <kith/sum_neighbors.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

enum class FieldColumn : std::uint8_t { velocity, mass, internal_energy };
inline constexpr std::array<std::string_view, 3> field_column_names{"velocity", "mass", "internal-energy"};

/// What the options ask for.
struct FieldChoice {
    std::vector<FieldColumn> columns;
    std::optional<FieldStatistics> statistics; ///< none: means
    bool density_gradient = false;

    [[nodiscard]] bool has(FieldColumn column) const;
    /// Whether anything is written besides densities and reaches.
    [[nodiscard]] bool is_given() const { return !columns.empty() || density_gradient; }
    [[nodiscard]] FieldStatistics found() const { return statistics.value_or(FieldStatistics{}); }
};

void add_field_options(const Parser& command, FieldChoice& choice);

/// Throws UsageError for options that do not go together, or with separate queries.
void check(const FieldChoice& choice, bool separate_queries);

/// The masses of a snapshot's points; none if the file has none.
[[nodiscard]] std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot);

struct Fields {
    std::vector<std::string> names; ///< in files: velocity_x, velocity_y, ..., mass, internal_energy
    std::vector<ScalarsView> columns;
};

/// Views of the snapshot. Throws UsageError for a column that `path`, which it was read from, does not have.
[[nodiscard]] Fields fields_of(const FieldChoice& choice, const io::Snapshot& snapshot, const std::string& path);

} // namespace kith::cli
