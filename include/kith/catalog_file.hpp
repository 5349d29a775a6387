// Units of the columns of a catalog file (/Group and /Subhalo of the HDF5 file, and tables), and catalogs as tables.
//
// <kith/catalog_columns.hpp> lists the columns. Numbers are in the units of the input:
// physical = number * a^a_power * h^h_power if the frame of the input is known; otherwise nothing is claimed.
#pragma once

#include <kith/catalog_columns.hpp>
#include <kith/io.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace kith::io {

/// "code length", "code mass", "code velocity" or "none".
[[nodiscard]] std::string_view unit_of(ColumnKind kind);

/// Powers of a and h, and the unit if it is known; empty for columns without unit.
[[nodiscard]] std::optional<Scaling> scaling_of(ColumnKind kind, const Frame& frame);

/// "comoving" if the number is scaled by a power of a, otherwise "physical"; "as in the input" if the input's frame is
/// unknown; "none" for columns without unit.
[[nodiscard]] std::string_view frame_of(ColumnKind kind, const std::optional<Frame>& frame);

enum class TableFormat : std::uint8_t {
    csv,  ///< RFC 4180, with a line of names
    ecsv, ///< ECSV 1.0 of Astropy: types, descriptions, units where they are exact; the provenance as metadata
};

/// Writes the groups as a table, one row per group: its number, then the columns with in_table(). Vectors have one
/// column per axis (GroupPos_x), masses and counts by type one per type that has members (GroupMassType_1). Numbers are
/// the shortest that read back to the same bits. Throws Error: invalid_argument (a catalog that is not the snapshot's),
/// too_large (2^31 members or more), file (the path cannot be written).
void write_catalog_table(const std::filesystem::path& path, TableFormat format, const Catalog& catalog,
                         const Snapshot& snapshot, const Provenance& provenance);

} // namespace kith::io
