// The order of a sorted snapshot: within each particle type the members of the groups in catalog order, then all other
// rows in file order.
//
// It is the order in which Gadget-4 and AREPO write their snapshots, and that readers of fof_subhalo_tab files rely on:
// the members of type t of group g are the rows GroupOffsetType[g, t] to GroupOffsetType[g, t] + GroupLenType[g, t] - 1
// of PartType<t>. Cost: O(rows + members) time and 8 bytes of memory per row, for one type at a time.
//
// Over ranks each has a range of the rows of the input, and the same range of the sorted rows: it reads the former,
// sends each row to the rank that has its place, and keeps the latter, until rank 0 writes them block by block.
#pragma once

#include "io/hdf5_ranks.hpp"
#include "io/selection.hpp"

#include <kith/io.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kith::io {

/// Most bytes of rows that are read, sent and written at a time, unless a row or a chunk of HDF5 has more.
inline constexpr std::int64_t sorting_block_bytes = std::int64_t{1} << 24;

/// A permutation of the rows of one type.
struct Permutation {
    std::vector<std::int64_t> begins; ///< of the range of each rank; then the number of rows
    std::vector<std::int64_t> target; ///< for each row of the input in this rank's range: its sorted row

    [[nodiscard]] std::int64_t rows() const { return begins.back(); }
    [[nodiscard]] RowRange of(int rank) const { return {begins[rank], begins[rank + 1]}; }
    [[nodiscard]] int owner(std::int64_t row) const;
};

/// The permutation of a type. Over ranks collective: `catalog` and `snapshot` are this rank's part of each, and the
/// members count the rows of the snapshots of all ranks. Throws Error(invalid_argument) if the catalog's members are no
/// rows of the snapshot, are listed twice, or are not as many as its count_by_type says.
[[nodiscard]] Permutation sorted_rows(hdf5::Ranks& ranks, const Catalog& catalog, const Snapshot& snapshot,
                                      std::size_t type);

/// The same permutation, with all rows in the range of rank 0.
[[nodiscard]] Permutation on_first_rank(hdf5::Ranks& ranks, const Permutation& permutation);

/// The next rows of this rank's range of the input, in order; empty at their end.
using NextRows = std::function<std::span<const std::byte>()>;
/// Puts the rows of a column into order: `sorted` receives this rank's range of the sorted rows.
void sort_rows(hdf5::Ranks& ranks, const Permutation& permutation, std::int64_t row_bytes, const NextRows& next,
               std::byte* sorted);

/// Writes rows, beginning at `first`.
using WriteRows = std::function<void(std::int64_t first, std::int64_t rows, const std::byte* bytes)>;
/// Calls write() on rank 0 for blocks of block_rows sorted rows, in order; for all at once if rank 0 has them all.
void write_sorted_rows(hdf5::Ranks& ranks, const Permutation& permutation, std::int64_t row_bytes,
                       const std::byte* sorted, std::int64_t block_rows, const WriteRows& write);

} // namespace kith::io
