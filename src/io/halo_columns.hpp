// Columns of a file of halos: those of /Group, those of /Subhalo, and those of a table.
#pragma once

#include "io/catalog_columns.hpp"

#include <kith/halo_file.hpp>

#include <vector>

namespace kith::io {

/// What a file of halos is made from.
struct HaloSource {
    const Halos& halos;
    CatalogSource groups;
    bool knows_gravity = true;
};

/// Throws Error if the catalog is not of the groups of the halos, or does not fit the snapshot.
void require_consistent(const HaloSource& source);

/// One row per group: the catalog's columns, some of them in place of its own. The source must outlive the columns,
/// here and below.
[[nodiscard]] std::vector<FileColumn> columns_of_groups(const HaloSource& source);
/// One row per halo, as in /Subhalo.
[[nodiscard]] std::vector<FileColumn> columns_of_halos(const HaloSource& source);
/// The same, with the spheres about each halo.
[[nodiscard]] std::vector<FileColumn> columns_of_halo_table(const HaloSource& source);

} // namespace kith::io
