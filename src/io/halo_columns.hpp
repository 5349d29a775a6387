// Columns of a file of halos: those of /Group beside a catalog's, and those of /Subhalo.
#pragma once

#include "io/catalog_columns.hpp"

#include <kith/halo_file.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::io {

enum class HaloUnit : std::uint8_t { none, mass, length, peculiar_velocity };

struct HaloColumn {
    std::string name;
    std::string second_name; ///< in the other of Gadget-4 and AREPO; empty if it is the same
    HaloUnit unit;
    ColumnType type;
    std::int64_t width; ///< numbers in a row; 0: one, in a dataset of one dimension
    std::string description;
    ColumnValues values;
};

/// "code length", ... and the conversion to physical units, as of a catalog's columns.
[[nodiscard]] std::string unit_of(const HaloColumn& column);
[[nodiscard]] std::optional<Scaling> scaling_of(const HaloColumn& column, const Frame& frame);

/// Names of columns of a catalog that a file of halos has from the halos.
[[nodiscard]] bool is_of_halos(std::string_view catalog_column);

[[nodiscard]] std::vector<HaloColumn> group_columns(const Halos& halos, const CatalogSource& source);
/// Empty without halos.
[[nodiscard]] std::vector<HaloColumn> subhalo_columns(const Halos& halos, const CatalogSource& source,
                                                      const HaloFileOptions& options);

} // namespace kith::io
