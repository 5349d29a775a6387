#include "io/result_arrays.hpp"

#include <kith/cluster_file.hpp>
#include <kith/density_file.hpp>
#include <kith/error.hpp>

#include "io/memory_source.hpp"
#include "support/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::io {

namespace {

std::int64_t bytes_of(IndexType type) {
    return type == IndexType::int64 ? 8 : 4;
}
std::int64_t bytes_of(DType dtype) {
    return dtype == DType::float64 ? 8 : 4;
}

StreamedArrays arrays_of(const NeighborSource& neighbors) {
    StreamedArrays arrays{{{"indices", 'i', bytes_of(neighbors.index_type), neighbors.rows, neighbors.k,
                            "rows of the sources, nearest first, one row per query; -1 where there is no neighbor"},
                           {"distances", 'f', bytes_of(neighbors.dtype), neighbors.rows, neighbors.k,
                            "distances to these, in the units of the points; infinite where there is no neighbor"}},
                          neighbors.next};
    if (neighbors.z_order) {
        arrays.arrays.push_back({"query_indices", 'i', 4, neighbors.rows, 0, "the query of each row"});
    }
    return arrays;
}

StreamedArrays arrays_of(const RadiusSource& neighbors) {
    return {{{"offsets", 'i', 8, neighbors.rows + 1, 0,
              "the neighbors of query i are elements offsets[i] to offsets[i + 1] - 1 of the other datasets"},
             {"indices", 'i', bytes_of(neighbors.index_type), neighbors.neighbors, 0,
              "rows of the sources, query after query"},
             {"distances", 'f', bytes_of(neighbors.dtype), neighbors.neighbors, 0,
              "distances to these, in the units of the points"}},
            neighbors.next};
}

StreamedArrays arrays_of(const NumberSource& counts) {
    return {{{"counts", 'i', 8, counts.count, 0, "the number of neighbors of each query"}}, counts.next};
}

template <class Result>
std::span<const std::byte> index_bytes(const Result& found) {
    return found.index_type() == IndexType::int64 ? std::as_bytes(found.indices64()) : std::as_bytes(found.indices());
}
template <class Result>
std::span<const std::byte> distance_bytes(const Result& found) {
    return found.dtype() == DType::float64 ? std::as_bytes(found.template distances<double>())
                                           : std::as_bytes(found.template distances<float>());
}

NeighborSource source_of(const KnnResult& found) {
    return {found.rows(),
            found.k(),
            found.index_type(),
            found.dtype(),
            blocks_of({index_bytes(found), distance_bytes(found), std::as_bytes(found.query_indices())}),
            found.query_indices().data() != nullptr};
}

RadiusSource source_of(const RadiusResult& found) {
    return {found.rows(), found.size(), found.index_type(), found.dtype(),
            blocks_of({std::as_bytes(found.offsets()), index_bytes(found), distance_bytes(found)})};
}

/// A statistic of a field, in memory and in files.
struct FieldColumn {
    bool FieldStatistics::*is_there;
    std::vector<double> FieldSums::*numbers;
    const char* ending;
    const char* description;
};
constexpr std::array field_columns{
    FieldColumn{&FieldStatistics::sum, &FieldSums::sum, "_sum", "sum of mass times value times kernel"},
    FieldColumn{&FieldStatistics::mean, &FieldSums::mean, "_mean", "mean weighted by mass times kernel"},
    FieldColumn{&FieldStatistics::variance, &FieldSums::variance, "_variance",
                "variance weighted by mass times kernel"},
    FieldColumn{&FieldStatistics::least, &FieldSums::least, "_least", "least value of the neighbors"},
    FieldColumn{&FieldStatistics::greatest, &FieldSums::greatest, "_greatest", "greatest value of the neighbors"},
    FieldColumn{&FieldStatistics::gradient, &FieldSums::gradient, "_gradient", "gradient of the interpolated values"},
};

StreamedArrays arrays_of(const DensitySource& sums) {
    StreamedArrays arrays{{}, sums.next};
    const auto add = [&](bool is_there, std::string name, char kind, std::int64_t columns, const char* description) {
        if (is_there) {
            arrays.arrays.push_back({std::move(name), kind, 8, sums.rows, columns, description});
        }
    };
    add(true, "density", 'f', 0,
        "mass, or number of points, per volume at each query, in the units of the points and masses");
    add(sums.reach, "reach", 'f', 0, "distance of the last neighbor, to which the kernel reaches");
    add(sums.counts, "counts", 'i', 0, "the number of neighbors of each query within the radius");
    add(sums.density_gradient, "density_gradient", 'f', sums.dimension,
        "gradient of the density at fixed reach, one row per query");
    for (const DensitySource::Field& field : sums.fields) {
        for (const FieldColumn& column : field_columns) {
            const bool is_gradient = column.is_there == &FieldStatistics::gradient;
            add(field.statistics.*column.is_there, field.name + column.ending, 'f', is_gradient ? sums.dimension : 0,
                column.description);
        }
    }
    return arrays;
}

/// Of sums in memory the columns that have numbers.
DensitySource source_of(const NeighborSums& sums, std::span<const std::string> names) {
    if (names.size() != sums.fields.size()) {
        throw Error(ErrorKind::invalid_argument, detail::message("there are ", sums.fields.size(), " fields and ",
                                                                 names.size(), " names; give a name for each field"));
    }
    DensitySource source{.rows = std::ssize(sums.density)};
    std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(sums.density))};
    const auto add = [&](const auto& numbers) {
        parts.push_back(std::as_bytes(std::span(numbers)));
        return !numbers.empty();
    };
    const auto add_gradient = [&](const std::vector<double>& numbers) {
        source.dimension = numbers.empty() ? source.dimension : std::ssize(numbers) / source.rows;
        return add(numbers);
    };
    source.reach = add(sums.reach);
    source.counts = add(sums.counts);
    source.density_gradient = add_gradient(sums.density_gradient);
    for (std::size_t field = 0; field < names.size(); ++field) {
        FieldStatistics& statistics = source.fields.emplace_back(DensitySource::Field{names[field], {}}).statistics;
        for (const FieldColumn& column : field_columns) {
            const std::vector<double>& numbers = sums.fields[field].*column.numbers;
            statistics.*column.is_there =
                column.is_there == &FieldStatistics::gradient ? add_gradient(numbers) : add(numbers);
        }
    }
    source.next = blocks_of(std::move(parts));
    return source;
}

StreamedArrays arrays_of(const SpanningTreeSource& tree) {
    const auto bytes = bytes_of(tree.dtype);
    return {
        {{"edges", 'i', tree.index_type == IndexType::int64 ? 8 : 4, tree.edges, 2,
          "rows of the points that an edge joins, the smaller one first; shortest edge first"},
         {"weights", 'f', bytes, tree.edges, 0, "length of each edge, in the units of the points"},
         {"heights", 'f', bytes, tree.edges, 0, "the smallest linking length that makes friends of the two points"}},
        tree.next};
}

SpanningTreeSource source_of(const SpanningTree& tree) {
    const bool is_wide = tree.dtype() == DType::float64;
    return {tree.count(), IndexType::int32, tree.dtype(),
            blocks_of({std::as_bytes(tree.edges()),
                       is_wide ? std::as_bytes(tree.weights<double>()) : std::as_bytes(tree.weights<float>()),
                       is_wide ? std::as_bytes(tree.heights<double>()) : std::as_bytes(tree.heights<float>())})};
}

StreamedArrays arrays_of(const PairCounts& pairs) {
    const std::int64_t bins = std::ssize(pairs.edges) - 1;
    const bool has_second = !pairs.second_edges.empty();
    const std::int64_t columns = has_second ? std::ssize(pairs.second_edges) - 1 : 0;
    StreamedArrays arrays{
        {{"edges", 'f', 8, std::ssize(pairs.edges), 0,
          "edges of the bins, in the units of the points: of the distance, or with bins of pi of that "
          "across the line of sight"},
         {"counts", 'i', 8, bins, columns, "pairs in each bin; bins of pi or mu along a row"}},
        {}};
    std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(pairs.edges)),
                                                  std::as_bytes(std::span(pairs.counts))};
    if (!pairs.weighted.empty()) {
        arrays.arrays.push_back({"weighted", 'f', 8, bins, columns, "sums of the products of weights of these pairs"});
        parts.push_back(std::as_bytes(std::span(pairs.weighted)));
    }
    if (!pairs.separations.empty()) {
        arrays.arrays.push_back({"separations", 'f', 8, bins, columns,
                                 "mean separations of these pairs, in the units of the points; with bins of pi those "
                                 "across the line of sight"});
        parts.push_back(std::as_bytes(std::span(pairs.separations)));
    }
    if (has_second) {
        arrays.arrays.push_back({"second_edges", 'f', 8, columns + 1, 0, "edges of the bins of pi or mu"});
        parts.push_back(std::as_bytes(std::span(pairs.second_edges)));
    }
    arrays.next = blocks_of(parts);
    return arrays;
}

/// A column of the condensed tree, which is written while it is held.
template <class Number>
std::vector<Number> column_of(const HdbscanResult& found, Number CondensedCluster::*member) {
    std::vector<Number> column;
    for (const CondensedCluster& cluster : found.condensed_tree.clusters) {
        column.push_back(cluster.*member);
    }
    return column;
}

template <class Write>
void write_density_clusters(const HdbscanResult& found, const Write& write) {
    const CondensedTree& tree = found.condensed_tree;
    const std::int64_t rows = found.points();
    const std::int64_t edges = std::ssize(found.edges);
    const std::int64_t clusters = std::ssize(tree.clusters);
    const auto parents = column_of(found, &CondensedCluster::parent);
    const auto sizes = column_of(found, &CondensedCluster::size);
    const auto labels = column_of(found, &CondensedCluster::label);
    const auto births = column_of(found, &CondensedCluster::birth);
    const auto deaths = column_of(found, &CondensedCluster::death);
    const auto stabilities = column_of(found, &CondensedCluster::stability);
    const auto bytes = [](const auto& numbers) { return std::as_bytes(std::span(numbers)); };
    write(StreamedArrays{
        {{"labels", 'i', 4, rows, 0, "the cluster of each point; -1: noise"},
         {"probabilities", 'f', 8, rows, 0, "how close each is to the densest part of its cluster; 0: noise"},
         {"outlier_scores", 'f', 8, rows, 0, "GLOSH: from 0 in the densest parts toward 1 for outliers"},
         {"core_distances", 'f', 8, rows, 0, "the smallest eps at which each is a core point, in their units"},
         {"last_clusters", 'i', 4, rows, 0, "the last cluster of the condensed tree that each leaves"},
         {"lambdas", 'f', 8, rows, 0, "one over the distance at which it does"},
         {"edges", 'i', 4, edges, 2, "rows of the points that an edge of the tree joins, the smaller one first"},
         {"heights", 'f', 8, edges, 0, "the smallest eps at which each connects clusters; ascending"},
         {"cluster_parents", 'i', 4, clusters, 0, "the cluster that split into each one and another; -1: the root"},
         {"cluster_sizes", 'i', 4, clusters, 0, "number of points of each cluster"},
         {"cluster_labels", 'i', 4, clusters, 0, "label of the members of each; -1: not selected"},
         {"cluster_births", 'f', 8, clusters, 0, "lambda at which the parent of each split"},
         {"cluster_deaths", 'f', 8, clusters, 0, "largest lambda at which a point leaves each, or it splits"},
         {"cluster_stabilities", 'f', 8, clusters, 0,
          "sum over points of the lambdas at which they leave, less birth"}},
        blocks_of({bytes(found.labels), bytes(found.probabilities), bytes(found.outlier_scores),
                   bytes(found.core_distances), bytes(tree.last_clusters), bytes(tree.lambdas), bytes(found.edges),
                   bytes(found.heights), bytes(parents), bytes(sizes), bytes(labels), bytes(births), bytes(deaths),
                   bytes(stabilities)})});
}

} // namespace

void write_density_clusters_npz(const std::filesystem::path& path, const HdbscanResult& clusters,
                                const Provenance& provenance) {
    write_density_clusters(clusters, [&](const StreamedArrays& arrays) { write_arrays_npz(path, arrays, provenance); });
}
void write_density_clusters_hdf5(const std::filesystem::path& path, const HdbscanResult& clusters,
                                 const Provenance& provenance) {
    write_density_clusters(clusters,
                           [&](const StreamedArrays& arrays) { write_arrays_hdf5(path, arrays, provenance); });
}

void write_pair_counts_npz(const std::filesystem::path& path, const PairCounts& pairs, const Provenance& provenance) {
    write_arrays_npz(path, arrays_of(pairs), provenance);
}
void write_pair_counts_hdf5(const std::filesystem::path& path, const PairCounts& pairs, const Provenance& provenance) {
    write_arrays_hdf5(path, arrays_of(pairs), provenance);
}

void stream_neighbors_npz(const std::filesystem::path& path, const NeighborSource& neighbors,
                          const Provenance& provenance) {
    write_arrays_npz(path, arrays_of(neighbors), provenance);
}
void stream_neighbors_hdf5(const std::filesystem::path& path, const NeighborSource& neighbors,
                           const Provenance& provenance) {
    write_arrays_hdf5(path, arrays_of(neighbors), provenance);
}
void write_neighbors_npz(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance) {
    stream_neighbors_npz(path, source_of(neighbors), provenance);
}
void write_neighbors_hdf5(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance) {
    stream_neighbors_hdf5(path, source_of(neighbors), provenance);
}

void stream_radius_neighbors_npz(const std::filesystem::path& path, const RadiusSource& neighbors,
                                 const Provenance& provenance) {
    write_arrays_npz(path, arrays_of(neighbors), provenance);
}
void stream_radius_neighbors_hdf5(const std::filesystem::path& path, const RadiusSource& neighbors,
                                  const Provenance& provenance) {
    write_arrays_hdf5(path, arrays_of(neighbors), provenance);
}
void write_radius_neighbors_npz(const std::filesystem::path& path, const RadiusResult& neighbors,
                                const Provenance& provenance) {
    stream_radius_neighbors_npz(path, source_of(neighbors), provenance);
}
void write_radius_neighbors_hdf5(const std::filesystem::path& path, const RadiusResult& neighbors,
                                 const Provenance& provenance) {
    stream_radius_neighbors_hdf5(path, source_of(neighbors), provenance);
}

void stream_radius_counts_npz(const std::filesystem::path& path, const NumberSource& counts,
                              const Provenance& provenance) {
    write_arrays_npz(path, arrays_of(counts), provenance);
}
void stream_radius_counts_hdf5(const std::filesystem::path& path, const NumberSource& counts,
                               const Provenance& provenance) {
    write_arrays_hdf5(path, arrays_of(counts), provenance);
}
void write_radius_counts_npz(const std::filesystem::path& path, std::span<const std::int64_t> counts,
                             const Provenance& provenance) {
    stream_radius_counts_npz(path, source_of(counts), provenance);
}
void write_radius_counts_hdf5(const std::filesystem::path& path, std::span<const std::int64_t> counts,
                              const Provenance& provenance) {
    stream_radius_counts_hdf5(path, source_of(counts), provenance);
}

void stream_densities_npz(const std::filesystem::path& path, const DensitySource& densities,
                          const Provenance& provenance) {
    write_arrays_npz(path, arrays_of(densities), provenance);
}
void stream_densities_hdf5(const std::filesystem::path& path, const DensitySource& densities,
                           const Provenance& provenance) {
    write_arrays_hdf5(path, arrays_of(densities), provenance);
}
void write_densities_npz(const std::filesystem::path& path, const NeighborSums& sums, const Provenance& provenance,
                         std::span<const std::string> fields) {
    stream_densities_npz(path, source_of(sums, fields), provenance);
}
void write_densities_hdf5(const std::filesystem::path& path, const NeighborSums& sums, const Provenance& provenance,
                          std::span<const std::string> fields) {
    stream_densities_hdf5(path, source_of(sums, fields), provenance);
}

void stream_spanning_tree_npz(const std::filesystem::path& path, const SpanningTreeSource& tree,
                              const Provenance& provenance) {
    write_arrays_npz(path, arrays_of(tree), provenance);
}
void stream_spanning_tree_hdf5(const std::filesystem::path& path, const SpanningTreeSource& tree,
                               const Provenance& provenance) {
    write_arrays_hdf5(path, arrays_of(tree), provenance);
}
void write_spanning_tree_npz(const std::filesystem::path& path, const SpanningTree& tree,
                             const Provenance& provenance) {
    stream_spanning_tree_npz(path, source_of(tree), provenance);
}
void write_spanning_tree_hdf5(const std::filesystem::path& path, const SpanningTree& tree,
                              const Provenance& provenance) {
    stream_spanning_tree_hdf5(path, source_of(tree), provenance);
}

void stream_clusters_hdf5(const std::filesystem::path& path, const NumberSource& labels, const Provenance& provenance) {
    const StreamedArrays arrays{
        {{"labels", 'i', 4, labels.count, 0, "the cluster of each row of the input; -1: noise, or not selected"},
         {"is_core", 'u', 1, labels.count, 0, "1 for core points"}},
        labels.next};
    write_arrays_hdf5(path, arrays, provenance);
}
void write_clusters_hdf5(const std::filesystem::path& path, std::span<const std::int32_t> labels,
                         std::span<const std::uint8_t> is_core, const Provenance& provenance) {
    stream_clusters_hdf5(path, {std::ssize(labels), blocks_of({std::as_bytes(labels), std::as_bytes(is_core)})},
                         provenance);
}

} // namespace kith::io
