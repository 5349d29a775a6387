// Tables of numbers in text: which lines are rows, and which columns are coordinates.
//
// Rows are lines of as many numbers each, with commas or blanks between them; empty lines and comments (#, %, //) are
// left out. A line of names may come first, also as a comment. Names choose the columns: x, y and z; vx, vy and vz;
// mass or m; id. Without names x and y all columns are coordinates, 2 to 8 of them. Columns that are not chosen may
// hold anything. All this is decided from the first few thousand bytes of the file.
#pragma once

#include "io/text_fields.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

struct TableLayout {
    Separator separator = Separator::blanks;
    std::int64_t offset = 0;        ///< of the first row
    std::int64_t line = 1;          ///< of the first row
    int width = 0;                  ///< columns in the file
    std::vector<std::string> names; ///< of all columns, in lower case; empty if the file gives none
    std::vector<int> coordinates;   ///< columns; empty if there are too many and no names
    std::vector<int> velocities;    ///< as many, or none
    std::optional<int> mass;
    std::optional<int> id;
};

/// Whether a line is no row: empty, or a comment.
[[nodiscard]] bool is_left_out(std::string_view line);

/// `text`: the beginning of a file, or all of it if `whole`. Nothing if this is no table.
[[nodiscard]] std::optional<TableLayout> find_table(std::string_view text, bool whole);

} // namespace kith::io
