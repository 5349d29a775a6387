// Datasets of one row per particle, joined from all files of a snapshot and written in another order of rows.
//
// The input is read in file order, block by block, and every row is put where it belongs in memory (sorted_rows.hpp);
// then the dataset is written. Each chunk of a compressed dataset is so read once, over ranks once more where the range
// of a rank ends within it. Rows are copied byte for byte in their stored type, whatever it is. Memory: this rank's
// range of the dataset, and a few blocks of 16 MiB, or of one chunk across its rows where that is more.
#pragma once

#include "io/hdf5_create.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_ranks.hpp"
#include "io/sorted_rows.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kith::io::hdf5 {

/// The particles of one type in one file.
struct RowPart {
    std::filesystem::path file;
    std::int64_t rows = 0;
};

/// The rows of one type: the files that hold any, in order, and where their rows go.
struct RowOrder {
    std::vector<RowPart> parts;
    Permutation permutation;
};

/// Whether a dataset of the first part has one row per particle of it.
[[nodiscard]] bool is_per_row(hid_t dataset, const RowOrder& order);

/// Writes the dataset `path`, whose first part is `dataset`, in the new order: same type, shape of a row and fill
/// value. A chunked dataset stays chunked, with those of its filters that HDF5 itself brings and that lose nothing; any
/// other becomes contiguous. Attributes are not copied. Returns the dataset. Throws Error(file) for a dataset that a
/// file lacks or that differs there in type or shape; Error(unsupported) for virtual datasets. Over ranks collective:
/// all but rank 0 pass no dataset and a null target. Values of variable length are then sorted by rank 0 alone.
[[nodiscard]] Handle<H5Dclose> copy_rows(Ranks& ranks, hid_t dataset, const std::string& path, const RowOrder& order,
                                         const OutputFile* target);

} // namespace kith::io::hdf5
