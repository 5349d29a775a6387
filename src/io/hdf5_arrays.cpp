// Neighbors, spanning trees and clusters as HDF5: a dataset for each array (result_arrays.hpp); the provenance is
// attributes of the root.
#include "io/hdf5_create.hpp"
#include "io/result_arrays.hpp"

namespace kith::io {

namespace {

hdf5::NumberType type_of(const StreamedArray& array) {
    const bool is_wide = array.item_bytes == 8;
    switch (array.kind) {
    case 'f':
        return hdf5::number_type(is_wide ? DType::float64 : DType::float32);
    case 'u':
        return hdf5::number_type<std::uint8_t>();
    default:
        return is_wide ? hdf5::number_type<std::int64_t>() : hdf5::number_type<std::int32_t>();
    }
}

} // namespace

void write_arrays_hdf5(const std::filesystem::path& path, const StreamedArrays& results, const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    for (const StreamedArray& array : results.arrays) {
        file.write_stream(array.name, type_of(array), array.rows, array.columns, array.description, results.next);
    }
    file.commit(provenance);
}

} // namespace kith::io
