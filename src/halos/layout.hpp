// The columns of a catalog, sized for the groups it describes.
//
// Groups are numbered by decreasing size, so those of at least min_members are the first ones; where each has its
// members follows from the sizes alone.
#pragma once

#include <kith/catalog_columns.hpp>

#include <cstdint>

namespace kith::detail::halos {

/// Whether lay_out() fills the column.
constexpr bool follows_from_sizes(const CatalogColumn& column) {
    return column.field == "offset" || column.field == "count";
}

/// The members of all groups of a catalog whose `offset` and `count` are set.
std::int64_t members_of(const Catalog& catalog);

/// Makes room for every column of a catalog whose `dimension` and `min_members` are set, and fills `groups`, `offset`
/// and `count`. `sizes` are those of all groups. Returns the bytes taken; throws out_of_memory.
std::int64_t reserve_columns(Catalog& catalog, const GroupSizes& sizes, bool velocities);

/// Fills the other columns, for which there is room, with zeros.
void fill_columns(Catalog& catalog, bool velocities);

/// reserve_columns(), then fill_columns().
std::int64_t lay_out(Catalog& catalog, const GroupSizes& sizes, bool velocities);

} // namespace kith::detail::halos
