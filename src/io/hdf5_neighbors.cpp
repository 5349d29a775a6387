// Neighbors as HDF5: datasets `indices` and `distances`, n x k, written from where they lie; the provenance is
// attributes of the root.
#include "io/hdf5_create.hpp"

#include <kith/io.hpp>

namespace kith::io {

void write_neighbors_hdf5(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    const bool wide_indices = neighbors.index_type() == IndexType::int64;
    const bool wide_distances = neighbors.dtype() == DType::float64;
    const void* indices = wide_indices ? static_cast<const void*>(neighbors.indices64().data())
                                       : static_cast<const void*>(neighbors.indices().data());
    const void* distances = wide_distances ? static_cast<const void*>(neighbors.distances<double>().data())
                                           : static_cast<const void*>(neighbors.distances<float>().data());
    file.write("indices", wide_indices ? hdf5::number_type<std::int64_t>() : hdf5::number_type<std::int32_t>(), indices,
               neighbors.rows(), neighbors.k(),
               "rows of the sources, nearest first, one row per query; -1 where there is no neighbor");
    file.write("distances", hdf5::number_type(neighbors.dtype()), distances, neighbors.rows(), neighbors.k(),
               "distances to these, in the units of the points; infinite where there is no neighbor");
    file.set_provenance(file.root(), provenance);
    file.commit();
}

} // namespace kith::io
