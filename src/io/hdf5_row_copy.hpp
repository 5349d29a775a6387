// Datasets of one row per particle, joined from all files of a snapshot and written in another order of rows.
//
// The input is read in file order, block by block, and every row is put where it belongs in memory; then the dataset is
// written in one go. Each chunk of a compressed dataset is so read once. Rows are copied byte for byte in their stored
// type, whatever it is. Memory: the dataset, one block of 16 MiB, or one chunk across its rows where that is more.
#pragma once

#include "io/hdf5_create.hpp"
#include "io/hdf5_handle.hpp"

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

/// The rows of one type: the files that hold any, in order, and for each row of these its row in the output.
struct RowOrder {
    std::vector<RowPart> parts;
    std::vector<std::int64_t> target;
};

/// Whether a dataset of the first part has one row per particle of it.
[[nodiscard]] bool is_per_row(hid_t dataset, const RowOrder& order);

/// Writes the dataset `path`, whose first part is `dataset`, in the new order: same type, shape of a row and fill
/// value. A chunked dataset stays chunked, with those of its filters that HDF5 itself brings and that lose nothing; any
/// other becomes contiguous. Attributes are not copied. Returns the dataset. Throws Error(file) for a dataset that a
/// file lacks or that differs there in type or shape; Error(unsupported) for virtual datasets.
[[nodiscard]] Handle<H5Dclose> copy_rows(hid_t dataset, const std::string& path, const RowOrder& order,
                                         const OutputFile& target);

} // namespace kith::io::hdf5
