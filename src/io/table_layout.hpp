// Tables of numbers in text: which lines are rows, and which columns are coordinates.
//
// Rows are lines of as many fields each, with commas, semicolons, bars, tabs or blanks between them. Empty lines and
// comments (#, %, //) are left out. Before the rows there may be comments, of which any may name the columns
// (table_names.hpp), and at most one line each of `sep=;`, of names, of units and of the number of rows. The names
// choose the columns: x, y and z; vx, vy and vz; mass or m; id. Two or three columns without names are x, y and z; more
// are refused, since the others would be taken for coordinates, unless the caller chooses columns. Columns that are not
// chosen may hold anything. All this is decided from the comments and the first lines of the file.
#pragma once

#include "io/input_file.hpp"
#include "io/text_fields.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

struct TableLayout {
    Separator separator = Separator::blanks;
    std::int64_t line = 1;          ///< of the first row
    int width = 0;                  ///< columns in the file
    bool ends_in_separator = false; ///< rows do, with nothing behind it
    std::vector<std::string> names; ///< of all columns, in lower case; empty if the file gives none
    std::vector<int> coordinates;   ///< columns
    std::vector<int> velocities;    ///< as many, or none
    std::optional<int> mass;
    std::optional<int> id;
    std::optional<std::int64_t> announced; ///< rows, by a line before them
    std::int64_t announced_line = 0;
    std::optional<double> box_size; ///< of a list of halos by Rockstar
    std::vector<std::string> warnings;
    std::string problem;   ///< why the table cannot be read, or empty
    bool is_vague = false; ///< nothing but the number of words in each line says that this is a table
};

/// `columns`: as in ReadOptions. Nothing if this is no table. Throws Error(invalid_argument) if the columns are not
/// there.
[[nodiscard]] std::optional<TableLayout> find_table(const InputFile& file, std::span<const std::string> columns = {});

} // namespace kith::io
