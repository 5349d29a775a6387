// Neighbors, spanning trees and clusters as arrays, which .npz and HDF5 store alike.
//
// Their numbers are made while they are written; a result in memory is a source that copies them. So each kind of
// result has one list of arrays, and each format one writer.
#pragma once

#include <kith/io.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::io {

struct StreamedArray {
    std::string name;
    char kind; ///< 'f': floating point, 'i': signed, 'u': unsigned
    std::int64_t item_bytes;
    std::int64_t rows;
    std::int64_t columns; ///< 0: one-dimensional
    const char* description;
};

struct StreamedArrays {
    std::vector<StreamedArray> arrays;
    BlockSource next; ///< all numbers of the first array, then all of the second, and so on
};

/// Write the arrays and the provenance: a member name.npy each and provenance.json, or datasets and attributes.
void write_arrays_npz(const std::filesystem::path& path, const StreamedArrays& results, const Provenance& provenance);
void write_arrays_hdf5(const std::filesystem::path& path, const StreamedArrays& results, const Provenance& provenance);

} // namespace kith::io
