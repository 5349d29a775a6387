// The numbers of one group: mass, center, mean velocity, sizes and spreads.
//
// Everything is relative to the group's lowest-index member, nearest image. Four passes over the members: the bounds of
// all terms (box, largest exponents), the sums of m, m x and m v in fixed point, the bounds of m r^2 and m |v - mean|^2
// now that the means are known, and their sums. Minima, maxima and fixed-point sums know no order, so the members of a
// large group are shared among threads freely. A member's own numbers (offset, product of distances) are computed in
// double precision, always with the same operations. Squares are formed in units of a power of two above the group's
// extent, so they neither overflow nor vanish.
// Source: jz-tree paper, section IV-B. Cost: O(members), constant memory.
#pragma once

#include "halos/columns.hpp"
#include "support/context.hpp"

#include <kith/catalog.hpp>

#include <cstdint>

namespace kith::detail::halos {

/// Fills every column of one group of a catalog whose members are in order and whose columns have their sizes. Returns
/// false, and leaves the columns, if a member's position is not below what the frame says.
bool describe_group(const Columns& columns, std::int64_t group, Catalog& catalog);

/// Fills a catalog with the groups of at least min_members, whose members it brings into order. Groups and columns have
/// been checked. Runs inside a stage. Returns whether the positions of all members are below what the frame says; if
/// not, the catalog is not one.
[[nodiscard]] bool describe_groups(Context& context, const LabeledGroups& groups, const Columns& columns,
                                   std::int64_t min_members, Catalog& catalog);

} // namespace kith::detail::halos
