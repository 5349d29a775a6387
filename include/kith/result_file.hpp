// Files of neighbors, sums, pair counts, spanning trees, clusters and levels of groups: their writers, and what reads
// them. Part of kith::io, which needs HDF5 only for HDF5 files.
//
// All writers of kith::io write to a temporary name beside the target and rename at the end, so no half-written file is
// left; they throw Error(file) if the target cannot be written. Without HDF5, functions for HDF5 files throw
// Error(unsupported).
#pragma once

#include <kith/hierarchy.hpp>
#include <kith/knn.hpp>
#include <kith/pair_counts.hpp>
#include <kith/points.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/sum_neighbors.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::io {

/// Origin of an output.
struct Provenance {
    std::string program;                           ///< "kith 0.1.0"
    std::string command;                           ///< the command line, or the caller's description
    std::string input;                             ///< file name
    std::map<std::string, std::string> parameters; ///< linking_length, box, types, min_members, ... as text
};

/// An array in a file of results, or a column of a table.
struct ResultArray {
    std::string name;
    std::vector<std::int64_t> shape;
    std::string description; ///< empty where the file has none
};

/// What kith knn, radius, density, pairs, mst, dbscan and hierarchy write as .npz or HDF5, the tables of kith fof, and
/// labels.
struct ResultFile {
    std::string format; ///< "npz", "HDF5", "CSV", "ECSV"
    std::string kind;   ///< "neighbors within a radius", "a table of groups", ...
    std::vector<ResultArray> arrays;
    std::map<std::string, std::string> provenance; ///< Program, Command, Input and parameters; none in CSV
};

/// Describes such a file; nothing for any other. Throws Error(file) for one that is damaged.
[[nodiscard]] std::optional<ResultFile> describe_result(const std::filesystem::path& path);

/// Writes a NumPy array file (.npy, version 1.0, C order) of rows x `columns`; columns = 0 writes a one-dimensional
/// array. Throws Error(invalid_argument) if the values do not make whole rows.
void write_npy(const std::filesystem::path& path, std::span<const std::int32_t> values, std::int64_t columns = 0);
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values, std::int64_t columns = 0);
void write_npy(const std::filesystem::path& path, std::span<const float> values, std::int64_t columns = 0);
void write_npy(const std::filesystem::path& path, std::span<const double> values, std::int64_t columns = 0);

/// Writes neighbors in host memory as `indices` and `distances`, n x k, and those in z-order with `query_indices`, n;
/// with the provenance: .npz (uncompressed; members indices.npy, distances.npy, provenance.json) or HDF5 (datasets and
/// root attributes).
void write_neighbors_npz(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance);
void write_neighbors_hdf5(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance);

/// Sums over neighbors likewise, float64: `density`; of k neighbors `reach`, within a radius `counts` (int64); and what
/// else was asked for: `density_gradient` (rows x d), and of each field, by its name in `fields`, NAME_sum, NAME_mean,
/// NAME_variance, NAME_least, NAME_greatest and NAME_gradient. All are one-dimensional but for gradients. Throws
/// Error(invalid_argument) unless there is a name for each field.
void write_densities_npz(const std::filesystem::path& path, const NeighborSums& sums, const Provenance& provenance,
                         std::span<const std::string> fields = {});
void write_densities_hdf5(const std::filesystem::path& path, const NeighborSums& sums, const Provenance& provenance,
                          std::span<const std::string> fields = {});

/// Makes numbers while they are written, in order, so that not all of them need lie in memory: fills the block with the
/// next bytes. What it throws ends the writing, and leaves no file.
using BlockSource = std::function<void(std::span<std::byte> block)>;

struct NeighborSource {
    std::int64_t rows = 0;
    std::int64_t k = 0;
    IndexType index_type = IndexType::int32;
    DType dtype = DType::float32;
    BlockSource next;     ///< all indices in row-major order, then all distances, then the queries of the rows
    bool z_order = false; ///< there are such
};

/// The same files, byte for byte, from such rows.
void stream_neighbors_npz(const std::filesystem::path& path, const NeighborSource& neighbors,
                          const Provenance& provenance);
void stream_neighbors_hdf5(const std::filesystem::path& path, const NeighborSource& neighbors,
                           const Provenance& provenance);

/// Neighbors within a radius likewise: `offsets` (rows + 1, int64), `indices` and `distances`, one-dimensional; or the
/// lengths of the rows alone, `counts` (int64).
void write_radius_neighbors_npz(const std::filesystem::path& path, const RadiusResult& neighbors,
                                const Provenance& provenance);
void write_radius_neighbors_hdf5(const std::filesystem::path& path, const RadiusResult& neighbors,
                                 const Provenance& provenance);
void write_radius_counts_npz(const std::filesystem::path& path, std::span<const std::int64_t> counts,
                             const Provenance& provenance);
void write_radius_counts_hdf5(const std::filesystem::path& path, std::span<const std::int64_t> counts,
                              const Provenance& provenance);

struct RadiusSource {
    std::int64_t rows = 0;
    std::int64_t neighbors = 0; ///< of all rows
    IndexType index_type = IndexType::int32;
    DType dtype = DType::float32;
    BlockSource next; ///< all offsets, then all indices, then all distances
};
/// One number per row.
struct NumberSource {
    std::int64_t count = 0;
    BlockSource next;
};

void stream_radius_neighbors_npz(const std::filesystem::path& path, const RadiusSource& neighbors,
                                 const Provenance& provenance);
void stream_radius_neighbors_hdf5(const std::filesystem::path& path, const RadiusSource& neighbors,
                                  const Provenance& provenance);
void stream_radius_counts_npz(const std::filesystem::path& path, const NumberSource& counts,
                              const Provenance& provenance);
void stream_radius_counts_hdf5(const std::filesystem::path& path, const NumberSource& counts,
                               const Provenance& provenance);

/// A minimum spanning tree likewise: `edges` ((n - 1) x 2, int32), `weights` and `heights`.
void write_spanning_tree_npz(const std::filesystem::path& path, const SpanningTree& tree, const Provenance& provenance);
void write_spanning_tree_hdf5(const std::filesystem::path& path, const SpanningTree& tree,
                              const Provenance& provenance);

struct SpanningTreeSource {
    std::int64_t edges = 0;
    IndexType index_type = IndexType::int32;
    DType dtype = DType::float32;
    BlockSource next; ///< the ends of all edges, the smaller one of each first, then all weights, then all heights
};

/// The same files, byte for byte, from such edges, of which those of a tree over ranks come from edges_in_order().
void stream_spanning_tree_npz(const std::filesystem::path& path, const SpanningTreeSource& tree,
                              const Provenance& provenance);
void stream_spanning_tree_hdf5(const std::filesystem::path& path, const SpanningTreeSource& tree,
                               const Provenance& provenance);

/// Pair counts likewise: `edges`, `counts` (bins, or bins x second bins), `weighted` if there are weights, and
/// `second_edges` of pi or mu if there are any.
void write_pair_counts_npz(const std::filesystem::path& path, const PairCounts& pairs, const Provenance& provenance);
void write_pair_counts_hdf5(const std::filesystem::path& path, const PairCounts& pairs, const Provenance& provenance);

/// Writes labels, one number a line, or as HDF5 datasets `labels` (int32) and `is_core` (uint8) with the provenance as
/// attributes of the root; write_npy() writes them as an array.
void write_labels_text(const std::filesystem::path& path, std::span<const std::int32_t> labels);
void write_clusters_hdf5(const std::filesystem::path& path, std::span<const std::int32_t> labels,
                         std::span<const std::uint8_t> is_core, const Provenance& provenance);

/// The same files, byte for byte, from labels (int32) that are made while they are written; for HDF5 then all of
/// `is_core`.
void stream_labels_npy(const std::filesystem::path& path, const NumberSource& labels);
void stream_labels_text(const std::filesystem::path& path, const NumberSource& labels);
void stream_clusters_hdf5(const std::filesystem::path& path, const NumberSource& labels, const Provenance& provenance);

/// The group of every row of the file at a level.
using LabelsOfLevel = std::function<std::vector<std::int32_t>(std::int64_t level)>;

/// Writes groups at several linking lengths: for each level its `linking_lengths` and number of `groups`; for each
/// group listed, level after level with `offsets` (levels + 1, int64), its `sizes`, `parents` (-1 at the last level)
/// and `first_rows`, the row of the file of its first member; on request `labels/0`, `labels/1`, ... `file_rows` are
/// those of the points (Snapshot::file_rows). Throws Error(invalid_argument) unless there is one for each point.
void write_fof_ladder_hdf5(const std::filesystem::path& path, const FofLadder& ladder,
                           std::span<const std::int64_t> file_rows, const Provenance& provenance,
                           const LabelsOfLevel& labels = {});

struct FofLevelsSource {
    std::vector<FofLevelLength> levels;
    std::vector<std::int64_t> listed; ///< groups of each level
    std::int64_t rows = -1;           ///< of the file, each with a label at every level; -1: labels are left out
    IndexType index_type = IndexType::int32;
    /// The sizes of all levels' groups, then their parents, -1 at the last level, as index_type says; then their first
    /// rows (int64); then the labels of all rows at the first level, at the second and so on (int32).
    BlockSource next;
};

/// The same file, byte for byte, from such levels.
void stream_fof_ladder_hdf5(const std::filesystem::path& path, const FofLevelsSource& levels,
                            const Provenance& provenance);

/// What such a file holds: FofLadder's levels without their spanning tree.
struct FofLevelsFile {
    std::vector<FofLevel> levels; ///< first_members are left empty
    std::int64_t rows = 0;        ///< of the labels; 0 if there are none
    std::map<std::string, std::string> provenance;
};

/// Throws Error(file) for a file that write_fof_ladder_hdf5() did not write, or that is damaged.
[[nodiscard]] FofLevelsFile read_fof_levels(const std::filesystem::path& path);
/// The group of every row of the input at a level, -1 in none that is listed, as write_fof_ladder_hdf5() stored it.
[[nodiscard]] std::vector<std::int32_t> read_fof_labels(const std::filesystem::path& path, std::int64_t level);

} // namespace kith::io
