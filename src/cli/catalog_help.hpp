// The columns of a catalog file, for people.
#pragma once

#include <string>

namespace kith::cli {

/// One line for each column of io::catalog_columns(): name, unit, powers of a and h, meaning.
[[nodiscard]] std::string catalog_help();

} // namespace kith::cli
