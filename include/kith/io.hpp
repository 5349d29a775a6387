// File readers and writers. Part of kith::io, which needs HDF5 only to read or write HDF5 files.
//
// The format of a snapshot is detected from its content, never from its name. If a header and the data disagree, the
// data's shape wins and a warning says so. Sizes that a file claims are checked against its length before memory is
// allocated. Writers write to a temporary name beside the target and rename at the end, so no half-written file is
// left; they throw Error(file) if the target cannot be written. Without HDF5, functions for HDF5 files throw
// Error(unsupported).
#pragma once

#include <kith/catalog.hpp>
#include <kith/catalog_reader.hpp>
#include <kith/communicator.hpp>
#include <kith/hierarchy.hpp>
#include <kith/knn.hpp>
#include <kith/pair_counts.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/sum_neighbors.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kith::io {

/// An owned rows x columns array of float32 or float64, row-major.
struct RealArray {
    std::variant<std::vector<float>, std::vector<double>> values;
    int columns = 1;

    [[nodiscard]] DType dtype() const noexcept {
        return std::holds_alternative<std::vector<float>>(values) ? DType::float32 : DType::float64;
    }
    [[nodiscard]] std::int64_t rows() const {
        return std::visit([&](const auto& v) { return static_cast<std::int64_t>(v.size()) / columns; }, values);
    }
    [[nodiscard]] PointsView view() const {
        return std::visit([&](const auto& v) { return PointsView(v.data(), rows(), columns); }, values);
    }
};

/// Conversion of one kind of number to physical units: number * a^a_power * h^h_power, and times to_cgs for cgs units.
struct Scaling {
    double a_power = 0;
    double h_power = 0;
    std::optional<double> to_cgs; ///< absent: the units are unknown
};

/// Conversion of the numbers of a cosmological snapshot to physical units; velocities become peculiar velocities.
struct Frame {
    double scale_factor = 1;
    Scaling length;
    Scaling mass;
    Scaling velocity;
    Scaling internal_energy = {}; ///< per unit of mass, of gas
};

/// The convention of Gadget and AREPO: comoving lengths and masses per h, peculiar velocities over sqrt(a).
[[nodiscard]] constexpr Frame gadget_frame(double scale_factor) {
    return {scale_factor, {1, -1, {}}, {0, -1, {}}, {0.5, 0, {}}};
}
/// The convention of SWIFT: comoving lengths, peculiar velocities, internal energies times a^2, no h.
[[nodiscard]] constexpr Frame swift_frame(double scale_factor) {
    return {scale_factor, {1, 0, {}}, {}, {}, {-2, 0, {}}};
}

/// The metadata of a file, without its particles.
struct SnapshotHeader {
    std::string format;                           ///< "Tipsy (std, big-endian)", "HDF5 (Gadget-4)", "npy", ...
    std::array<std::int64_t, max_types> counts{}; ///< particles of each type in the file's data
    bool has_types = true;                        ///< false for plain arrays: all points are listed as type 1
    int dimension = 3;
    DType dtype = DType::float32;                  ///< of the positions
    std::optional<std::array<double, 3>> box_size; ///< absent or all zero: open or unknown
    std::string invalid_box;                       ///< if the file states an invalid box: which, and why; box_size is
                                                   ///< then absent, but space need not be open
    std::optional<double> time;                    ///< for cosmological snapshots the scale factor
    std::optional<double> redshift;
    std::optional<Frame> frame; ///< absent: not known to be cosmological, nothing is claimed
    /// Gravitational softening of each type at this time: Plummer equivalent, in the units of the positions. 0: the file
    /// does not state it.
    std::array<double, max_types> softening{};
    /// Omega0, HubbleParam, UnitLength_in_cm, ... as found; those of SWIFT also under Gadget's names.
    std::map<std::string, double> parameters;
    std::vector<std::string> warnings;        ///< one line each, human-readable
    std::vector<std::filesystem::path> files; ///< files read: one, or all of a multi-file snapshot
    std::string incomplete; ///< if other files of the snapshot are missing: which; `counts` are then those of this
                            ///< file alone, and read_snapshot() refuses it
};

/// The particles of the selected types, in file order: types ascending, rows as stored.
struct Snapshot {
    SnapshotHeader header;
    RealArray positions;
    std::optional<RealArray> velocities;
    std::optional<RealArray> masses;    ///< one column; absent if every particle has uniform_mass
    std::optional<double> uniform_mass; ///< absent if the file has no masses at all
    /// One column, per unit of mass: 0 for all but gas; absent if gas is not among the types, or has none in the file.
    std::optional<RealArray> internal_energies;
    std::vector<std::uint8_t> types;     ///< one per row; empty for files without types
    std::vector<std::uint64_t> ids;      ///< one per row; empty if the file has none
    std::vector<std::int64_t> file_rows; ///< row among all particles of the file, types ascending
};

/// Which particle types to read.
struct TypeSelection {
    enum class Kind : std::uint8_t {
        automatic, ///< type 1 if the file has any, else all; a warning in the header says which
        all,
        listed,
    };
    Kind kind = Kind::automatic;
    std::vector<int> types; ///< for Kind::listed
};

/// One of several parts of the selected rows, as equal as they can be, in file order: what one rank of many reads.
struct RowShare {
    int index = 0;
    int count = 1;
};

struct ReadOptions {
    TypeSelection types;
    bool velocities = true; ///< false: skip this column; so for masses and ids
    bool masses = true;
    bool ids = true;
    bool internal_energies = false; ///< true: read them, too; HDF5 only
    /// HDF5, .npy, .npz, Gadget-2 binary and Tipsy binary: only these rows are read. Other formats are read whole, and
    /// the other rows dropped. Counts of the header are always those of all rows; it lacks box_warning().
    RowShare share = {};
    /// Text tables only: the columns that are coordinates, by name or by number from 1 ({"ra", "dec"}, {"2", "3"}), or
    /// {"all"}; "mass=NAME" chooses that of the masses. No coordinates: x, y and z by name, or all columns of two or
    /// three without names.
    std::vector<std::string> columns = {};
};

/// Reads a snapshot, or its header only.
///
/// A name after a colon selects one table of a file: any n x d dataset of an HDF5 file (`halo.h5:/Coordinates`), or an
/// array of a .npz archive (`points.npz:positions`; optional if only one can be points). Records with the fields x, y
/// and z (an HDF5 compound type, a structured array) are points, too. It has no types, masses or box. A file whose name
/// contains the colon takes precedence.
///
/// For a multi-file snapshot (`name.0`, `name.1`, ... or `name.0.hdf5`, ...; numbers may be padded with zeros) pass any
/// file, the stem (`name`, `name.hdf5`) or SWIFT's virtual file. It is read as one: types ascending, then files
/// ascending.
///
/// Throws Error(file) for a file that is missing, too short (naming the byte), of no known format (naming those known),
/// or inconsistent beyond repair; Error(invalid_argument) for an empty selection of types, listing the counts of every
/// type, for a share whose index is not from 0 to its count minus 1, and for columns that are not there, or of a file
/// that is no text table; Error(out_of_memory). An array without rows is valid. A text table of more than three columns
/// of which none are named x and y is refused unless columns are chosen.
[[nodiscard]] SnapshotHeader read_header(const std::filesystem::path& path,
                                         const std::vector<std::string>& columns = {});
[[nodiscard]] Snapshot read_snapshot(const std::filesystem::path& path, const ReadOptions& options = {});

/// Keeps `count` rows of a snapshot, drawn at random, in their order; all if there are no more. The same seed draws the
/// same rows of a file, as `kith fof --sample` does. The header's counts stay those of the file. Over ranks collective:
/// draws from the rows of all. Throws Error(invalid_argument) unless count is 1 or more and there is a file row for
/// every row.
void keep_sample(Snapshot& snapshot, std::int64_t count, std::uint64_t seed = 1, Communicator* ranks = nullptr);

/// The warning that read_snapshot() adds if the extent of all positions does not fit the file's box; empty if it does.
[[nodiscard]] std::string box_warning(const SnapshotHeader& header, const RealArray& positions);

/// The one path that stands for `files`, which are all files of one snapshot, in any order, such as a shell's expansion
/// of `snap_007.*.hdf5`; empty if they do not belong to one snapshot. Throws Error(invalid_argument) if `files` is
/// empty, or only a part of the snapshot (naming those left out); Error(file) for a file that is missing or cannot be
/// read.
[[nodiscard]] std::optional<std::filesystem::path> one_snapshot(const std::vector<std::filesystem::path>& files);

/// Reads a Tipsy auxiliary array (.grp, .iord, .den, ...), ASCII or binary of either byte order: one value per particle
/// of a snapshot, in its order (gas, dark, star); reals may also be vectors of three, one per row. Binary files do not
/// state their type; 4 bytes are read as int32 or float32. Throws Error(file) if the content does not match its count.
[[nodiscard]] std::vector<std::int64_t> read_tipsy_integers(const std::filesystem::path& path);
[[nodiscard]] RealArray read_tipsy_reals(const std::filesystem::path& path);

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

struct CatalogFileOptions {
    /// File name of the snapshot in group order, written for this catalog by write_sorted_snapshot(). Empty: none.
    std::string sorted_snapshot;
};

/// Writes a halo catalog in the fof_subhalo_tab convention of Gadget-4 and AREPO, with an empty /Subhalo, kith's own
/// columns beside the convention's, /Members/Index (file rows in group order), /IDs/ID if the snapshot has ids, and the
/// provenance as attributes of /Header. A catalog without groups is valid.
///
/// GroupLenType and GroupOffsetType, by which readers find members as rows of the snapshot, are written only for a
/// sorted snapshot; MembersLenType, MembersOffset and MembersOffsetType, which refer to /Members/Index, always.
///
/// Throws Error(invalid_argument) if the catalog is not the snapshot's; Error(too_large) for 2^31 members or more.
void write_catalog_hdf5(const std::filesystem::path& path, const Catalog& catalog, const Snapshot& snapshot,
                        const Provenance& provenance, const CatalogFileOptions& options = {});

/// Members of groups, for each its row of the file (int64); then, with ids, for each its id (uint64).
struct MemberSource {
    bool has_ids = false;
    BlockSource next;
};

/// The same file, byte for byte, from the columns of all groups and from members that are made while they are written.
/// Of the snapshot it needs the header, and of which types its columns are: it may be a share of the rows.
void stream_catalog_hdf5(const std::filesystem::path& path, const Catalog& columns, const MemberSource& members,
                         const Snapshot& snapshot, const Provenance& provenance,
                         const CatalogFileOptions& options = {});

/// Writes the snapshot in group order, as Gadget-4 and AREPO write theirs and as readers of fof_subhalo_tab catalogs
/// expect: in each particle type the members of group 0, then those of group 1 and so on, within a group in file order;
/// then all rows in no group of the catalog, including those of types that were not grouped, in file order. So the
/// members of type t of group g are the rows GroupOffsetType[g, t] to GroupOffsetType[g, t] + GroupLenType[g, t] - 1 of
/// PartType<t>, where the offset is the sum of count_by_type over the groups before; pass the file name in the options
/// of write_catalog_hdf5() to write these columns. `snapshot` is the one that was grouped; the other columns are read
/// again from its header.files.
///
/// HDF5 input is written to one file: each dataset of PartType0 to PartType6 and of the groups in them,
/// with its stored type (including variable-length types), row shape and attributes, in the new order if it has one row
/// per particle, otherwise unchanged; all other groups, attributes and soft links unchanged (of several files: the
/// first's). The header's counts become those of one file. Chunked datasets stay chunked and keep deflate, shuffle,
/// Fletcher-32, szip and n-bit; scale-offset and plugin filters, which may lose digits each time, are read but not
/// applied again. Contiguous, compact and external datasets become contiguous. Omitted are data that locate rows of the
/// input (SWIFT's /Cells, EAGLE's /HashTable), references to objects of the input, and, of several files, columns that
/// one of them lacks. For Gadget-2 binary and Tipsy input only Coordinates, Velocities, Masses or MassTable, and
/// ParticleIDs are written, in Gadget-4's layout. A binary Tipsy file to a path that ends in .std or .tipsy is written
/// as Tipsy: its records as they are, in order within gas, dark matter and stars, without the provenance.
///
/// /Header receives the provenance; an attribute of the same name in the input's header stays, unless kith wrote it.
/// Returns what was omitted, one human-readable line each. `progress` is called before each dataset.
///
/// Over ranks collective: each passes its part of the catalog and of the snapshot, whose members count the rows of all
/// parts, in the order of ranks. Each reads and sorts its share of the rows; rank 0 writes the file, the same bytes as
/// one process, calls `progress` and returns what was omitted. All throw the same error.
///
/// Memory: one dataset, a block of 16 MiB of it or one chunk across its rows again, and 8 bytes per row of one type;
/// for input that is not HDF5, the columns of one type and one of them again. Over ranks each needs its share of these
/// (datasets of variable-length types are sorted by rank 0 alone), and a few blocks. Time: each file is read once, in
/// order.
///
/// Throws Error(invalid_argument) if the snapshot has no types (arrays, tables, PLY) or names no files, if `path` is
/// one of these files or ends in .std or .tipsy although the input is not binary Tipsy, or if the catalog is not the
/// snapshot's; Error(file) if a file cannot be read or has changed, or the disk is full; Error(unsupported) for virtual
/// datasets; Error(out_of_memory); Error(canceled). Then nothing is written.
[[nodiscard]] std::vector<std::string> write_sorted_snapshot(const std::filesystem::path& path, const Catalog& catalog,
                                                             const Snapshot& snapshot, const Provenance& provenance,
                                                             const Progress& progress = {},
                                                             Communicator* ranks = nullptr);

/// Writes a snapshot as Tipsy binary (std: big-endian): gas, dark matter and stars are types 0, 1 and 4, in this order;
/// points without types are dark matter. Positions and velocities keep their type, except float32 positions beside
/// float64 velocities, which become float64; masses become float32. Absent velocities and masses are 0, and so is all
/// that a snapshot lacks: softening, potential, density, temperature, metals, formation time. The format has no box,
/// ids or units. Throws Error(invalid_argument) for other types or dimensions than 3, columns of other lengths than the
/// positions, and masses beyond float32; Error(too_large) for 2^31 particles or more.
void write_tipsy(const std::filesystem::path& path, const Snapshot& snapshot);

/// Writes Tipsy group files. write_grp: an ASCII count, then label plus one of each particle of the file (0 = in no
/// group); throws Error(invalid_argument) for a label below -1. write_gtp: a Tipsy snapshot (std) with one star per
/// group (mass, center, mean velocity, eps = largest radius); throws Error(invalid_argument) unless the groups have 3
/// dimensions, and Error(too_large) for 2^31 groups or more.
void write_grp(const std::filesystem::path& path, std::span<const std::int32_t> labels);
void stream_grp(const std::filesystem::path& path, const NumberSource& labels);
void write_gtp(const std::filesystem::path& path, const Catalog& catalog, double time);

} // namespace kith::io
