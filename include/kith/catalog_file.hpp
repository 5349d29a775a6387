// The columns of a catalog file (/Group of the HDF5 file, and tables), one entry per column.
//
// The writers, `kith fof --help` and the documentation use this list. Numbers are in the units of the input:
// physical = number * a^a_power * h^h_power if the frame of the input is known; otherwise nothing is claimed.
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
    catalog_velocity, ///< a times the peculiar velocity, as Gadget's catalogs store it
};

enum class ColumnType : std::uint8_t {
    uint8,
    int32,
    int64,
    float64,
    as_positions, ///< float32 or float64, as the positions of the input
    as_velocities,
};

enum class ColumnPresence : std::uint8_t {
    always,
    with_velocities,        ///< if the input has velocities
    beside_sorted_snapshot, ///< CatalogFileOptions::sorted_snapshot
};

struct CatalogColumn {
    std::string_view name;
    ColumnShape shape;
    ColumnKind kind;
    ColumnType type;
    ColumnPresence presence;
    bool in_table; ///< whether write_catalog_table() writes it
    std::string_view description;
};

/// In file order.
[[nodiscard]] std::span<const CatalogColumn> catalog_columns();

/// "code length", "code mass", "code velocity" or "none".
[[nodiscard]] std::string_view unit_of(const CatalogColumn& column);

/// Powers of a and h, and the unit if it is known; empty for columns without unit.
[[nodiscard]] std::optional<Scaling> scaling_of(const CatalogColumn& column, const Frame& frame);

/// "comoving" if the number is scaled by a power of a, otherwise "physical"; "as in the input" if the input's frame is
/// unknown; "none" for columns without unit.
[[nodiscard]] std::string_view frame_of(const CatalogColumn& column, const std::optional<Frame>& frame);

enum class TableFormat : std::uint8_t {
    csv,  ///< RFC 4180, with a line of names
    ecsv, ///< ECSV 1.0 of Astropy: types, descriptions, units where they are exact; the provenance as metadata
};

/// Writes the groups as a table, one row per group: its number, then the columns with in_table. Vectors have one column
/// per axis (GroupPos_x), masses and counts by type one per type that has members (GroupMassType_1). Numbers are the
/// shortest that read back to the same bits. Throws Error: invalid_argument (a catalog that is not the snapshot's),
/// too_large (2^31 members or more), file (the path cannot be written).
void write_catalog_table(const std::filesystem::path& path, TableFormat format, const Catalog& catalog,
                         const Snapshot& snapshot, const Provenance& provenance);

} // namespace kith::io
