// The columns of a catalog file: what /Group of the HDF5 file and the tables hold, one entry for each column.
//
// The writers work from this list, and so do `kith fof --help` and the documentation. Numbers are those of the input:
// physical = number * a^a_power * h^h_power in its units, where the frame of the input is known; where it is not,
// nothing is claimed.
#pragma once

#include <kith/io.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kith::io {

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
    catalog_velocity, ///< as Gadget stores velocities in catalogs: a times the peculiar velocity
};

enum class ColumnType : std::uint8_t {
    uint8,
    int32,
    int64,
    float64,
    as_positions, ///< float32 or float64, as the input's positions
    as_velocities,
};

enum class ColumnPresence : std::uint8_t {
    always,
    with_velocities,        ///< where the input has velocities
    beside_sorted_snapshot, ///< CatalogFileOptions::sorted_snapshot
};

struct CatalogColumn {
    std::string_view name;
    ColumnShape shape;
    ColumnKind kind;
    ColumnType type;
    ColumnPresence presence;
    bool in_table; ///< whether write_catalog_table() writes it, too
    std::string_view description;
};

/// In the order in which they are written.
[[nodiscard]] std::span<const CatalogColumn> catalog_columns();

/// "code length", "code mass", "code velocity" or "none".
[[nodiscard]] std::string_view unit_of(const CatalogColumn& column);

/// Powers of a and h, and the unit if it is known; nothing for columns without unit.
[[nodiscard]] std::optional<Scaling> scaling_of(const CatalogColumn& column, const Frame& frame);

/// "comoving" if the number takes a power of a, or else "physical"; "as in the input" if the input's frame is unknown;
/// "none" for columns without unit.
[[nodiscard]] std::string_view frame_of(const CatalogColumn& column, const std::optional<Frame>& frame);

enum class TableFormat : std::uint8_t {
    csv,  ///< RFC 4180, with a line of names
    ecsv, ///< ECSV 1.0 of Astropy: types, descriptions, and units where they are exact; the provenance as meta data
};

/// The groups as a table, one row a group: its number, then the columns that are marked in_table. Vectors take a column
/// for each axis (GroupPos_x), masses and counts by type one for each type that has members (GroupMassType_1). Numbers
/// are as short as they can be and still read back to the same bits.
void write_catalog_table(const std::filesystem::path& path, TableFormat format, const Catalog& catalog,
                         const Snapshot& snapshot, const Provenance& provenance);

} // namespace kith::io
