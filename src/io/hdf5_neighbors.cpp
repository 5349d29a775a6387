// Neighbors, spanning trees and clusters as HDF5: datasets `indices` and `distances`, n x k, or one-dimensional beside
// `offsets`; `edges`, `weights` and `heights`; `labels` and `is_core`, an element for each row of the input. They are
// written from where they lie; the provenance is attributes of the root.
#include "io/hdf5_create.hpp"

#include <kith/io.hpp>

namespace kith::io {

namespace {

/// Indices and distances of a KnnResult or a RadiusResult.
template <class Result>
void write_rows(const hdf5::OutputFile& file, const Result& neighbors, std::int64_t columns,
                const std::string& about_indices, const std::string& about_distances) {
    if (neighbors.index_type() == IndexType::int64) {
        file.write_all("indices", neighbors.indices64(), columns, about_indices);
    } else {
        file.write_all("indices", neighbors.indices(), columns, about_indices);
    }
    if (neighbors.dtype() == DType::float64) {
        file.write_all("distances", neighbors.template distances<double>(), columns, about_distances);
    } else {
        file.write_all("distances", neighbors.template distances<float>(), columns, about_distances);
    }
}

constexpr const char* about_knn_indices =
    "rows of the sources, nearest first, one row per query; -1 where there is no neighbor";
constexpr const char* about_knn_distances =
    "distances to these, in the units of the points; infinite where there is no neighbor";

} // namespace

void write_neighbors_hdf5(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    write_rows(file, neighbors, neighbors.k(), about_knn_indices, about_knn_distances);
    file.commit(provenance);
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
    file.commit(provenance);
}

void write_radius_neighbors_hdf5(const std::filesystem::path& path, const RadiusResult& neighbors,
                                 const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    file.write_all("offsets", neighbors.offsets(), 0,
                   "the neighbors of query i are elements offsets[i] to offsets[i + 1] - 1 of the other datasets");
    write_rows(file, neighbors, 0, "rows of the sources, query after query",
               "distances to these, in the units of the points");
    file.commit(provenance);
}

void write_spanning_tree_hdf5(const std::filesystem::path& path, const SpanningTree& tree,
                              const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    file.write("edges", hdf5::number_type<std::int32_t>(), tree.edges().data(), tree.count(), 2,
               "rows of the points that an edge joins, the smaller one first; shortest edge first");
    const auto write_lengths = [&](auto weights, auto heights) {
        file.write_all("weights", weights, 0, "length of each edge, in the units of the points");
        file.write_all("heights", heights, 0, "the smallest linking length that makes friends of the two points");
    };
    if (tree.dtype() == DType::float64) {
        write_lengths(tree.weights<double>(), tree.heights<double>());
    } else {
        write_lengths(tree.weights<float>(), tree.heights<float>());
    }
    file.commit(provenance);
}

void write_radius_counts_hdf5(const std::filesystem::path& path, std::span<const std::int64_t> counts,
                              const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    file.write_all("counts", counts, 0, "the number of neighbors of each query");
    file.commit(provenance);
}

void write_clusters_hdf5(const std::filesystem::path& path, std::span<const std::int32_t> labels,
                         std::span<const std::uint8_t> is_core, const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    file.write_all("labels", labels, 0, "the cluster of each row of the input; -1: noise, or not selected");
    file.write_all("is_core", is_core, 0, "1 for core points");
    file.commit(provenance);
}

} // namespace kith::io
