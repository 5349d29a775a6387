// The order of a sorted snapshot: within each particle type the members of the groups in catalog order, then all other
// rows in file order.
//
// It is the order in which Gadget-4 and AREPO write their snapshots, and that readers of fof_subhalo_tab files rely on:
// the members of type t of group g are the rows GroupOffsetType[g, t] to GroupOffsetType[g, t] + GroupLenType[g, t] - 1
// of PartType<t>. Cost: O(rows + members) time and 8 bytes of memory per row, for one type at a time.
#pragma once

#include <kith/io.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::io {

/// For every row of the type in the input, in file order, its row in the sorted snapshot: a permutation. Throws
/// Error(invalid_argument) if the catalog's members are no rows of the snapshot, are listed twice, or are not as many
/// as its count_by_type says.
[[nodiscard]] std::vector<std::int64_t> sorted_rows(const Catalog& catalog, const Snapshot& snapshot, std::size_t type);

} // namespace kith::io
