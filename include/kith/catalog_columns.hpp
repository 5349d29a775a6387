// The tables of the columns of groups and of halos, one row per column: the only lists of them.
//
// Memory on CPU and GPU, the readers and writers of files, `kith fof --help`, `kith halos --help`, Python and the tests
// loop over them. A new column of groups is a member of Catalog, a row here, its computation in
// src/halos/group_columns.hpp and its line in docs/catalogs.md; one of halos a member of Halos, a row here, its
// computation in src/halos/halo_describer.cpp and its line in docs/halos.md. A build or a test fails where one of them
// is missing. Numbers are in the units of the input. <kith/catalog_file.hpp> converts them to physical units.
#pragma once

#include <kith/catalog.hpp>
#include <kith/halos.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kith {

enum class ColumnShape : std::uint8_t {
    scalar,         ///< rows
    vector,         ///< rows x dimension
    by_type,        ///< rows x max_types
    by_overdensity, ///< rows x overdensities; in files a column for each
};

enum class ColumnKind : std::uint8_t {
    count,
    index,
    flag,
    ratio,
    mass,
    length,
    velocity,
    catalog_velocity,  ///< a times the peculiar velocity, as Gadget's catalogs store it
    peculiar_velocity, ///< without any power of a
    angular_momentum,  ///< per mass: of physical lengths and peculiar velocities
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
    with_velocities, ///< if the input has velocities
    with_gravity,    ///< if G is known
    with_velocities_and_gravity,
    with_ids,               ///< if the input has ids
    not_in_tables,          ///< in HDF5 only
    beside_sorted_snapshot, ///< in HDF5 only, with io::CatalogFileOptions::sorted_snapshot
    not_in_files,
};

/// The member of Catalog or Halos that holds a column; std::monostate if the writers of files derive it.
using CatalogField = std::variant<std::monostate, std::vector<double> Catalog::*, std::vector<std::int64_t> Catalog::*,
                                  std::vector<std::uint8_t> Catalog::*>;
using HaloField = std::variant<std::monostate, std::vector<double> Halos::*, std::vector<std::int64_t> Halos::*,
                               std::vector<std::uint8_t> Halos::*>;

template <class Field>
struct Column {
    /// Of the dataset, and of the column of a table; of one by_overdensity, the beginning.
    std::string_view name;
    std::string_view field; ///< name of the member, in C++ and Python; empty if there is none
    Field values;
    ColumnShape shape;
    ColumnKind kind;
    ColumnType type;
    ColumnPresence presence;
    std::string_view description;
    std::string_view read_before = {}; ///< another code's dataset that is read rather than this one
    std::string_view read_else = {};   ///< the same, read where this one is missing

    /// Whether tables in text have it.
    [[nodiscard]] constexpr bool in_table() const noexcept { return presence < ColumnPresence::not_in_tables; }
    /// Numbers in a row.
    [[nodiscard]] constexpr std::int64_t width(int dimension, std::int64_t overdensities = 0) const noexcept {
        switch (shape) {
        case ColumnShape::scalar:
            return 1;
        case ColumnShape::vector:
            return dimension;
        case ColumnShape::by_type:
            return max_types;
        default:
            return overdensities;
        }
    }
    /// Numbers in the member.
    [[nodiscard]] constexpr std::int64_t size(std::int64_t rows, int dimension, bool has_velocities,
                                              std::int64_t overdensities = 0) const noexcept {
        const bool needs_velocities =
            presence == ColumnPresence::with_velocities || presence == ColumnPresence::with_velocities_and_gravity;
        return needs_velocities && !has_velocities ? 0 : rows * width(dimension, overdensities);
    }
};
using CatalogColumn = Column<CatalogField>;
/// In /Subhalo, or in /Group if the name begins so.
using HaloColumn = Column<HaloField>;

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

consteval auto make_halo_columns() {
    using H = Halos;
    using enum ColumnShape;
    using enum ColumnKind;
    using enum ColumnType;
    using enum ColumnPresence;
    constexpr HaloField derived;
    return std::to_array<HaloColumn>({
        // Of /Group, where those of the same names in catalog_columns mean something else, or are about halos.
        {"GroupPos", "", derived, vector, length, as_positions, not_in_tables,
         "position of the member of lowest potential; of a group without a halo, its center of mass"},
        {"GroupCM", "", derived, vector, length, as_positions, not_in_tables,
         "center of mass of all members, inside the box"},
        {"GroupNsubs", "", derived, scalar, count, int32, not_in_tables, "bound halos"},
        {"GroupFirstSub", "", derived, scalar, index, int32, not_in_tables, "row of the first in /Subhalo; -1: none"},
        {"SubhaloGroupNr", "group", &H::group, scalar, index, int32, always, "label of the group, its row in /Group",
         "", "SubhaloGrNr"},
        {"SubhaloGrNr", "", derived, scalar, index, int32, not_in_tables, "the same as SubhaloGroupNr"},
        {"SubhaloParent", "parent", &H::parent, scalar, index, int32, always,
         "row of the halo of which this is a part; -1: none"},
        {"SubhaloLen", "count", &H::count, scalar, count, int32, always, "bound members"},
        {"SubhaloLenType", "count_by_type", &H::count_by_type, by_type, count, int32, always,
         "bound members of each type"},
        {"", "center_row", &H::center_row, scalar, index, int32, not_in_files, "row of the member of lowest potential"},
        {"SubhaloRowMostbound", "", derived, scalar, index, int64, not_in_tables,
         "row of the most bound member among all particles of the snapshot file"},
        {"SubhaloIDMostbound", "", derived, scalar, index, int64, with_ids, "id of the most bound member"},
        {"SubhaloPos", "center", &H::center, vector, length, as_positions, always,
         "position of the member of lowest potential, inside the box"},
        {"SubhaloCM", "center_of_mass", &H::center_of_mass, vector, length, as_positions, always,
         "center of mass of the bound members, inside the box"},
        {"SubhaloCMOffset", "center_offset", &H::center_offset, scalar, length, as_positions, always,
         "distance of the center of mass from the center"},
        {"SubhaloVel", "velocity", &H::velocity, vector, peculiar_velocity, as_velocities, with_velocities,
         "mean peculiar velocity of the bound members by mass"},
        {"SubhaloVelDisp", "velocity_dispersion", &H::velocity_dispersion, scalar, peculiar_velocity, as_velocities,
         with_velocities,
         "of the bound members along an axis, sqrt(sum m u^2/(3 M)), u from their mean velocity with the Hubble flow"},
        {"SubhaloSpin", "spin", &H::spin, vector, angular_momentum, as_velocities, with_velocities,
         "angular momentum of the bound members over their mass, about their center of mass, with the Hubble flow"},
        {"SubhaloSpinBullock", "bullock_spin", &H::bullock_spin, scalar, ratio, as_positions,
         with_velocities_and_gravity,
         "J/(sqrt(2) M V R), R and V those of a virialized sphere of the bound mass M; NaN without its density"},
        {"SubhaloSpinPeebles", "peebles_spin", &H::peebles_spin, scalar, ratio, as_positions,
         with_velocities_and_gravity,
         "J |E|^(1/2)/(G M^(5/2)), E the kinetic and potential energy of the bound members"},
        {"SubhaloMass", "mass", &H::mass, scalar, mass, float64, always, "sum of the bound members' masses"},
        {"SubhaloGroupMass", "group_mass", &H::group_mass, scalar, mass, float64, always,
         "sum of the masses of all members of the group"},
        {"SubhaloUnboundFraction", "unbound_fraction", &H::unbound_fraction, scalar, ratio, as_positions, always,
         "part of the group's mass that is not bound"},
        {"SubhaloHalfmassRad", "half_mass_radius", &H::half_mass_radius, scalar, length, as_positions, always,
         "radius about the center that holds half of the bound members' mass"},
        {"SubhaloBToA", "b_to_a", &H::b_to_a, scalar, ratio, as_positions, always,
         "axis ratio of the ellipsoid of bound members with the volume of the half-mass sphere; NaN if fewer than 20 "
         "are in it"},
        {"SubhaloCToA", "c_to_a", &H::c_to_a, scalar, ratio, as_positions, always,
         "the same of the shortest axis to the longest"},
        {"SubhaloMajorAxis", "major_axis", &H::major_axis, vector, ratio, as_positions, always,
         "direction of the longest axis, of length 1"},
        {"SubhaloVmax", "max_velocity", &H::max_velocity, scalar, peculiar_velocity, as_positions, with_gravity,
         "largest circular velocity, sqrt(G M(r)/(a r)), about the center"},
        {"SubhaloVmaxRad", "max_velocity_radius", &H::max_velocity_radius, scalar, length, as_positions, always,
         "radius of the largest circular velocity"},
        {"SubhaloIsWide", "is_wide", &H::is_wide, scalar, flag, uint8, always,
         "1 if bound members or spheres reach over more than half a period"},
        {"SubhaloIsBridge", "is_bridge", &H::is_bridge, scalar, flag, uint8, always,
         "1 if the bound members have less than half of the group's mass"},
        {"Group_M_", "sphere_mass", &H::sphere_mass, by_overdensity, mass, float64, always,
         "mass of the sphere of a mean density, about the center"},
        {"Group_R_", "sphere_radius", &H::sphere_radius, by_overdensity, length, as_positions, always,
         "radius of the sphere of a mean density, about the center"},
        {"Group_C_", "sphere_concentration", &H::sphere_concentration, by_overdensity, ratio, as_positions, always,
         "concentration of an NFW profile with the mean distance of the mass in the sphere"},
        {"Group_CVmax_", "peak_concentration", &H::peak_concentration, by_overdensity, ratio, as_positions, always,
         "concentration of an NFW profile with the largest circular velocity, over that of the sphere"},
    });
}

} // namespace detail

/// In file order.
inline constexpr auto catalog_columns = detail::make_catalog_columns();
/// What a file of halos has beside or in place of them.
inline constexpr auto halo_columns = detail::make_halo_columns();

/// The table of Catalog or of Halos.
template <class Record>
constexpr const auto& column_table() noexcept {
    if constexpr (std::is_same_v<Record, Catalog>) {
        return catalog_columns;
    } else {
        static_assert(std::is_same_v<Record, Halos>);
        return halo_columns;
    }
}

/// Calls visit(column, values) for every column that is a member of the record, a Catalog or Halos, which may be const.
/// `values` is that member.
template <class RecordOrConst, class Visitor>
void for_each_field(RecordOrConst& record, const Visitor& visit) {
    constexpr const auto& columns = column_table<std::remove_const_t<RecordOrConst>>();
    const auto visit_one = [&]<std::size_t Row>() {
        constexpr const auto& column = columns[Row];
        if constexpr (column.values.index() != 0) {
            visit(column, record.*std::get<column.values.index()>(column.values));
        }
    };
    [&]<std::size_t... Rows>(std::index_sequence<Rows...>) {
        (visit_one.template operator()<Rows>(), ...);
    }
    (std::make_index_sequence<columns.size()>());
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
