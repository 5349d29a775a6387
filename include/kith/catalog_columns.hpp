// The table of the catalog's columns, one row per column: the only list of them.
//
// Memory on CPU and GPU, the readers and writers of files, `kith fof --help`, Python and the tests loop over it. A new
// column is a member of Catalog, a row here, its computation in src/halos/group_columns.hpp and its line in
// docs/catalogs.md; a build or a test fails where one of them is missing. Numbers are in the units of the input.
// <kith/catalog_file.hpp> converts them to physical units.
#pragma once

#include <kith/catalog.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kith {

enum class ColumnShape : std::uint8_t {
    scalar,  ///< groups
    vector,  ///< groups x dimension
    by_type, ///< groups x max_types
};

enum class ColumnKind : std::uint8_t {
    count,
    index,
    flag,
    mass,
    length,
    velocity,
    catalog_velocity, ///< a times the peculiar velocity, as Gadget's catalogs store it
};

/// Type of the numbers in files.
enum class ColumnType : std::uint8_t {
    uint8,
    int32,
    int64,
    float32,
    float64,
    as_positions, ///< float32 or float64, as the positions of the input
    as_velocities,
};

enum class ColumnPresence : std::uint8_t {
    always,
    with_velocities,        ///< if the input has velocities
    not_in_tables,          ///< in HDF5 only
    beside_sorted_snapshot, ///< in HDF5 only, with io::CatalogFileOptions::sorted_snapshot
};

/// The member of Catalog that holds a column; std::monostate if the writers of files derive it.
using CatalogField = std::variant<std::monostate, std::vector<double> Catalog::*, std::vector<std::int64_t> Catalog::*,
                                  std::vector<std::uint8_t> Catalog::*>;

struct CatalogColumn {
    std::string_view name;  ///< of the dataset in /Group, and of the column of a table
    std::string_view field; ///< name of the member of Catalog, in C++ and Python; empty if there is none
    CatalogField values;
    ColumnShape shape;
    ColumnKind kind;
    ColumnType type;
    ColumnPresence presence;
    std::string_view description;
    std::string_view read_before = {}; ///< another code's dataset that is read rather than this one
    std::string_view read_else = {};   ///< the same, read where this one is missing

    /// Whether io::write_catalog_table() writes it.
    [[nodiscard]] constexpr bool in_table() const noexcept {
        return presence == ColumnPresence::always || presence == ColumnPresence::with_velocities;
    }
    /// Numbers in a row.
    [[nodiscard]] constexpr std::int64_t width(int dimension) const noexcept {
        return shape == ColumnShape::scalar ? 1 : shape == ColumnShape::vector ? dimension : max_types;
    }
    /// Numbers in the member of a catalog.
    [[nodiscard]] constexpr std::int64_t size(std::int64_t groups, int dimension, bool has_velocities) const noexcept {
        return presence == ColumnPresence::with_velocities && !has_velocities ? 0 : groups * width(dimension);
    }
};

namespace detail {

consteval auto make_catalog_columns() {
    using C = Catalog;
    using enum ColumnShape;
    using enum ColumnKind;
    using enum ColumnType;
    using enum ColumnPresence;
    constexpr CatalogField derived;
    return std::to_array<CatalogColumn>({
        {"GroupLen", "count", &C::count, scalar, count, int32, always, "members"},
        {"GroupNsubs", "", derived, scalar, count, int32, not_in_tables, "subhalos: 0, none are sought"},
        {"GroupFirstSub", "", derived, scalar, index, int32, not_in_tables, "first subhalo: -1, none are sought"},
        {"MembersLenType", "count_by_type", &C::count_by_type, by_type, count, int32, always, "members of each type",
         "", "GroupLenType"},
        {"MembersOffset", "offset", &C::offset, scalar, index, int64, not_in_tables,
         "position of the first member in /Members/Index"},
        {"MembersOffsetType", "", derived, by_type, index, int64, not_in_tables,
         "position of the first member of each type in /Members/Index"},
        {"GroupLenType", "", derived, by_type, count, int32, beside_sorted_snapshot,
         "members of each type, rows of PartTypeN"},
        {"GroupOffsetType", "", derived, by_type, index, int64, beside_sorted_snapshot,
         "first row of the group within PartTypeN"},
        {"GroupMass", "mass", &C::mass, scalar, mass, float64, always, "sum of the members' masses"},
        {"GroupMassType", "mass_by_type", &C::mass_by_type, by_type, mass, float64, always,
         "sum of the masses of each type"},
        // GroupCM is AREPO's. GroupPos is the potential minimum in catalogs of SUBFIND.
        {"GroupPos", "center", &C::center, vector, length, as_positions, always, "center of mass, inside the box",
         "GroupCM"},
        {"GroupVel", "", derived, vector, catalog_velocity, as_velocities, with_velocities,
         "a times the mean peculiar velocity by mass; GroupVelStored where the frame of the input is unknown"},
        {"GroupVelStored", "velocity", &C::velocity, vector, velocity, as_velocities, with_velocities,
         "mean by mass of the velocities as the input stores them", "", "GroupVel"},
        {"GroupVelDisp", "velocity_dispersion", &C::velocity_dispersion, scalar, velocity, as_velocities,
         with_velocities,
         "sqrt(sum m dv^2 / (d M)), dv from the mean of the velocities as the input stores them, without Hubble flow"},
        {"GroupRmsRadius", "rms_radius", &C::rms_radius, scalar, length, as_positions, always,
         "sqrt(sum m r^2 / M), r from the center of mass"},
        {"GroupMaxRadius", "max_radius", &C::max_radius, scalar, length, as_positions, always,
         "distance of the farthest member from the center of mass"},
        {"GroupLower", "lower", &C::lower, vector, length, as_positions, always,
         "lower bounds, as offsets from the center of mass"},
        {"GroupUpper", "upper", &C::upper, vector, length, as_positions, always,
         "upper bounds, as offsets from the center of mass"},
        {"GroupIsAmbiguous", "is_ambiguous", &C::is_ambiguous, scalar, flag, uint8, always,
         "1 if the group is wider than half a period: its center and radii are ambiguous"},
    });
}

} // namespace detail

/// In file order.
inline constexpr auto catalog_columns = detail::make_catalog_columns();

/// Calls visit(column, values) for every column that is a member of Catalog. `values` is that member of `catalog`,
/// which may be const.
template <class CatalogOrConst, class Visitor>
void for_each_field(CatalogOrConst& catalog, const Visitor& visit) {
    const auto visit_one = [&]<std::size_t Row>() {
        constexpr const CatalogColumn& column = catalog_columns[Row];
        if constexpr (column.values.index() != 0) {
            visit(column, catalog.*std::get<column.values.index()>(column.values));
        }
    };
    [&]<std::size_t... Rows>(std::index_sequence<Rows...>) {
        (visit_one.template operator()<Rows>(), ...);
    }
    (std::make_index_sequence<catalog_columns.size()>());
}

namespace detail {

/// Where the table has a member of Catalog; an error of compilation for a member that it lacks, or has twice.
template <auto Member>
consteval std::size_t index_of_column() {
    std::size_t found = catalog_columns.size();
    for (std::size_t i = 0; i < catalog_columns.size(); ++i) {
        if (catalog_columns[i].values == CatalogField(Member)) {
            found = found == catalog_columns.size() ? i : throw "a member of Catalog has two rows of the table";
        }
    }
    return found < catalog_columns.size() ? found : throw "a member of Catalog has no row of the table";
}

} // namespace detail

} // namespace kith
