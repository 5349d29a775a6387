// Values of the columns of a catalog file.
#pragma once

#include <kith/catalog_file.hpp>

#include <string>
#include <variant>
#include <vector>

namespace kith::io {

/// What a catalog file is made from.
struct CatalogSource {
    const Catalog& catalog;
    const Snapshot& snapshot;
    bool is_sorted = false; ///< whether a sorted snapshot stands beside the file
};

using ColumnValues = std::variant<std::vector<std::uint8_t>, std::vector<std::int64_t>, std::vector<double>>;

/// All values of a column, row by row.
[[nodiscard]] ColumnValues values_of(const CatalogColumn& column, const CatalogSource& source);

[[nodiscard]] bool is_present(const CatalogColumn& column, const CatalogSource& source);

/// The type of the numbers in the file, that of positions and velocities resolved.
[[nodiscard]] ColumnType type_of(const CatalogColumn& column, const CatalogSource& source);

/// The column's description, completed by what holds for this source alone.
[[nodiscard]] std::string description_of(const CatalogColumn& column, const CatalogSource& source);

/// Whether the masses of the groups are numbers of members because the input has no masses.
[[nodiscard]] bool counts_as_mass(const CatalogSource& source);

/// Members of all groups.
[[nodiscard]] std::int64_t members_of(const Catalog& catalog);

/// Throws Error if columns have the wrong length, or a group is too large to store.
void require_columns(const Catalog& catalog);
/// The same, or if members are not in the snapshot.
void require_consistent(const Catalog& catalog, const Snapshot& snapshot);

} // namespace kith::io
