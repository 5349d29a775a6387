// The columns of a catalog file, for people.
#pragma once

#include <kith/catalog_file.hpp>

#include <string>

namespace kith::cli {

/// "a h^-1"; "1" for neither.
[[nodiscard]] std::string powers_text(const io::Scaling& scaling);

/// Each column of catalog_columns: name, meaning, unit, powers of a and h.
[[nodiscard]] std::string catalog_help();
/// Each column of halo_columns that files have.
[[nodiscard]] std::string halo_help();

} // namespace kith::cli
