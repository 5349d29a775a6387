// Neighbors, spanning trees and clusters as HDF5: datasets `indices` and `distances`, n x k, or one-dimensional beside
// `offsets`; `edges`, `weights` and `heights`; `labels` and `is_core`, an element for each row of the input. They are
// written from where they lie; the provenance is attributes of the root.
#include "io/hdf5_create.hpp"

#include <kith/io.hpp>

namespace kith::io {

namespace {

/// Indices and distances of a KnnResult or a RadiusResult.
template <class Result>
void write_rows(const hdf5::OutputFile& file, const Result& neighbors, std::int64_t rows, std::int64_t columns,
                const std::string& about_indices, const std::string& about_distances) {
    const bool wide_indices = neighbors.index_type() == IndexType::int64;
    const bool wide_distances = neighbors.dtype() == DType::float64;
    const void* indices = wide_indices ? static_cast<const void*>(neighbors.indices64().data())
                                       : static_cast<const void*>(neighbors.indices().data());
    const void* distances = wide_distances ? static_cast<const void*>(neighbors.template distances<double>().data())
                                           : static_cast<const void*>(neighbors.template distances<float>().data());
    file.write("indices", wide_indices ? hdf5::number_type<std::int64_t>() : hdf5::number_type<std::int32_t>(), indices,
               rows, columns, about_indices);
    file.write("distances", hdf5::number_type(neighbors.dtype()), distances, rows, columns, about_distances);
}

constexpr const char* about_knn_indices =
    "rows of the sources, nearest first, one row per query; -1 where there is no neighbor";
constexpr const char* about_knn_distances =
    "distances to these, in the units of the points; infinite where there is no neighbor";

void commit(hdf5::OutputFile& file, const Provenance& provenance) {
    file.set_provenance(file.root(), provenance);
    file.commit();
}

} // namespace

void write_neighbors_hdf5(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    write_rows(file, neighbors, neighbors.rows(), neighbors.k(), about_knn_indices, about_knn_distances);
    commit(file, provenance);
}

void stream_neighbors_hdf5(const std::filesystem::path& path, const NeighborSource& neighbors,
                           const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    const bool is_wide = neighbors.index_type == IndexType::int64;
    file.write_stream("indices", is_wide ? hdf5::number_type<std::int64_t>() : hdf5::number_type<std::int32_t>(),
                      neighbors.rows, neighbors.k, about_knn_indices, neighbors.next);
    file.write_stream("distances", hdf5::number_type(neighbors.dtype), neighbors.rows, neighbors.k, about_knn_distances,
                      neighbors.next);
    commit(file, provenance);
}

void write_radius_neighbors_hdf5(const std::filesystem::path& path, const RadiusResult& neighbors,
                                 const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    file.write("offsets", hdf5::number_type<std::int64_t>(), neighbors.offsets().data(), neighbors.rows() + 1, 0,
               "the neighbors of query i are elements offsets[i] to offsets[i + 1] - 1 of the other datasets");
    write_rows(file, neighbors, neighbors.size(), 0, "rows of the sources, query after query",
               "distances to these, in the units of the points");
    commit(file, provenance);
}

void write_spanning_tree_hdf5(const std::filesystem::path& path, const SpanningTree& tree,
                              const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    const bool is_wide = tree.dtype() == DType::float64;
    const void* weights = is_wide ? static_cast<const void*>(tree.weights<double>().data())
                                  : static_cast<const void*>(tree.weights<float>().data());
    const void* heights = is_wide ? static_cast<const void*>(tree.heights<double>().data())
                                  : static_cast<const void*>(tree.heights<float>().data());
    file.write("edges", hdf5::number_type<std::int32_t>(), tree.edges().data(), tree.count(), 2,
               "rows of the points that an edge joins, the smaller one first; shortest edge first");
    file.write("weights", hdf5::number_type(tree.dtype()), weights, tree.count(), 0,
               "length of each edge, in the units of the points");
    file.write("heights", hdf5::number_type(tree.dtype()), heights, tree.count(), 0,
               "the smallest linking length that makes friends of the two points");
    commit(file, provenance);
}

void write_radius_counts_hdf5(const std::filesystem::path& path, std::span<const std::int64_t> counts,
                              const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    file.write("counts", hdf5::number_type<std::int64_t>(), counts.data(), static_cast<std::int64_t>(counts.size()), 0,
               "the number of neighbors of each query");
    commit(file, provenance);
}

void write_clusters_hdf5(const std::filesystem::path& path, std::span<const std::int32_t> labels,
                         std::span<const std::uint8_t> is_core, const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    file.write("labels", hdf5::number_type<std::int32_t>(), labels.data(), static_cast<std::int64_t>(labels.size()), 0,
               "the cluster of each row of the input; -1: noise, or not selected");
    file.write("is_core", hdf5::number_type<std::uint8_t>(), is_core.data(), static_cast<std::int64_t>(is_core.size()),
               0, "1 for core points");
    commit(file, provenance);
}

} // namespace kith::io
