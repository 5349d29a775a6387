// Values of the columns of a catalog file.
#pragma once

#include <kith/catalog_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace kith::io {

/// What a catalog file is made from.
struct CatalogSource {
    const Catalog& catalog;
    const Snapshot& snapshot;
    bool is_sorted = false; ///< whether a sorted snapshot stands beside the file
};

using ColumnValues =
    std::variant<std::vector<std::uint8_t>, std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<double>>;

/// Columns that no member holds, and what derives them.
template <class Source, std::size_t N>
struct DerivedColumns {
    struct Row {
        std::string_view name;
        ColumnValues (*values)(const Source&);
    };
    Row rows[N];

    [[nodiscard]] constexpr const Row* find(std::string_view name) const {
        const Row* const found = std::ranges::find(rows, name, &Row::name);
        return found == std::end(rows) ? nullptr : found;
    }
    /// Whether these are the columns of a table without members.
    [[nodiscard]] constexpr bool complete(const auto& columns) const {
        return std::ranges::all_of(columns, [&](const auto& column) {
            return std::holds_alternative<std::monostate>(column.values) == (find(column.name) != nullptr);
        });
    }
    /// The values of a column, a member of `held` or derived.
    [[nodiscard]] ColumnValues values_of(const auto& column, const auto& held, const Source& source) const {
        return std::visit(
            [&](auto member) -> ColumnValues {
                if constexpr (std::is_same_v<decltype(member), std::monostate>) {
                    return find(column.name)->values(source);
                } else {
                    return held.*member;
                }
            },
            column.values);
    }
};

/// A column as files have it.
struct FileColumn {
    std::string name;
    ColumnShape shape; ///< not by_overdensity: each of these has a column
    ColumnKind kind;
    ColumnType type;    ///< that of positions and velocities resolved
    std::int64_t width; ///< numbers in a row
    std::string description;
    bool in_table;
    std::function<ColumnValues()> values; ///< row by row
};

/// Those that a catalog of this source has. The source must outlive them.
[[nodiscard]] std::vector<FileColumn> columns_of(const CatalogSource& source);

/// The type of the numbers of a column in a file of this snapshot.
[[nodiscard]] ColumnType type_of(ColumnType type, const Snapshot& snapshot);

/// A column's description, completed by what holds for this source alone.
[[nodiscard]] std::string description_of(std::string_view description, ColumnKind kind, const CatalogSource& source);

/// Whether the masses of the groups are numbers of members because the input has no masses.
[[nodiscard]] bool counts_as_mass(const CatalogSource& source);

/// Members of all groups.
[[nodiscard]] std::int64_t members_of(const Catalog& catalog);

/// Throws Error if columns have the wrong length, or a group is too large to store.
void require_columns(const Catalog& catalog);
/// The same, or if members are not in the snapshot.
void require_consistent(const Catalog& catalog, const Snapshot& snapshot);

} // namespace kith::io
