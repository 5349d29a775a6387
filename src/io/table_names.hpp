// Names of columns: found in a line or in comments, and compared with the names that mean something.
//
// Programs write them in many ways: numbered (`1:id 2:x`, `id(0) x(1)`, a comment for each column), with units
// (`x [m]`, `x(kpc)`, `x_kpc`), quoted, in upper case, behind a word (`columns: x y z`), and in a comment separated
// otherwise than the rows. Names are in lower case here, without quotes and numbers. A name with a unit is taken for
// the name without it only where no column has the latter, and two columns of one name are no answer.
#pragma once

#include "io/table_head.hpp"
#include "io/text_fields.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

/// Whether columns of these names can be chosen from.
using WantedNames = std::function<bool(std::span<const std::string>)>;

/// The fields of a line as names.
[[nodiscard]] std::vector<std::string> names_in(std::string_view line, Separator separator);

/// How a line can be read as names of `width` columns: those that are wanted if it can be split into such, else as the
/// rows are split, else in another way. Empty if it cannot.
[[nodiscard]] std::vector<std::string> names_of_width(std::string_view line, Separator separator, int width,
                                                      const WantedNames& are_wanted);

/// The names that comments give one each, numbered from 0 or 1: `# 1: id`, `# 2: x [kpc]`. Empty if there are not as
/// many as columns.
[[nodiscard]] std::vector<std::string> listed_names(std::span<const HeadLine> comments, int width);

/// Whether the text holds words of a sentence, such as "of" and "the".
[[nodiscard]] bool is_prose(std::span<const std::string> names);

/// Whether these are names that are looked for, all of them.
[[nodiscard]] bool are_known(std::span<const std::string> names);

/// Whether every field is a unit or a sign for none.
[[nodiscard]] bool are_units(std::span<const std::string> fields);

inline constexpr int no_column = -1;
inline constexpr int several_columns = -2;

/// The column of that name: its number from 0, no_column or several_columns.
[[nodiscard]] int find_column(std::span<const std::string> names, std::string_view wanted);

/// The name without its unit.
[[nodiscard]] std::string_view bare_name(std::string_view name);

/// x, y and z, or x and y (or xc, yc, zc); empty if they are not there, or are there twice.
[[nodiscard]] std::vector<int> find_coordinates(std::span<const std::string> names);

} // namespace kith::io
