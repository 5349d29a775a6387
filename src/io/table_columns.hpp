// Which columns of a table are coordinates, velocities, masses and ids: those asked for, else by name, else by
// position.
#pragma once

#include "io/table_layout.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace kith::io {

/// The remedy where it is not known which columns are coordinates.
inline constexpr std::string_view how_to_choose =
    "choose with --columns, by numbers or names such as --columns 2,3,4, or --columns all (columns= in Python)";

/// What chooses the column of the masses is this and its name or number.
inline constexpr std::string_view as_mass = "mass=";

/// The name or number of a column that is asked for.
inline std::string asked_name(const std::string& column) {
    return column.starts_with(as_mass) ? column.substr(as_mass.size()) : column;
}

/// From the table's width and names; `columns` as in ReadOptions. Sets the problem of a table whose coordinates are not
/// known. Throws Error(invalid_argument), which names the file, if columns that are asked for are not there.
void choose_columns(TableLayout& table, const std::filesystem::path& file, std::span<const std::string> columns);

} // namespace kith::io
