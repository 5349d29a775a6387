// Files in and out. Part of kith::io, which needs HDF5 only where HDF5 files are read or written.
//
// A snapshot's format is found from its content, never from its name. Where a header and the data disagree, the data's
// shape wins and a warning says so. Sizes that a file claims are checked against its length before memory is taken.
// Writers write to a temporary name beside the target and rename at the end, so no half-written file is left.
#pragma once

#include <kith/catalog.hpp>
#include <kith/catalog_reader.hpp>
#include <kith/knn.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
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

/// How numbers of one kind become physical: number * a^a_power * h^h_power, and times to_cgs in cgs units.
struct Scaling {
    double a_power = 0;
    double h_power = 0;
    std::optional<double> to_cgs; ///< absent: the units are unknown
};

/// What the numbers of a cosmological snapshot mean. Velocities become peculiar velocities.
struct Frame {
    double scale_factor = 1;
    Scaling length;
    Scaling mass;
    Scaling velocity;
};

/// The convention of Gadget and AREPO: comoving lengths and masses per h, peculiar velocities over sqrt(a).
[[nodiscard]] constexpr Frame gadget_frame(double scale_factor) {
    return {scale_factor, {1, -1, {}}, {0, -1, {}}, {0.5, 0, {}}};
}
/// The convention of SWIFT: comoving lengths, peculiar velocities, no h.
[[nodiscard]] constexpr Frame swift_frame(double scale_factor) {
    return {scale_factor, {1, 0, {}}, {}, {}};
}

/// What a file says about itself, without its particles.
struct SnapshotHeader {
    std::string format;                           ///< "Tipsy (std, big-endian)", "HDF5 (Gadget-4)", "npy", ...
    std::array<std::int64_t, max_types> counts{}; ///< particles of each type that the file really holds
    bool has_types = true;                        ///< false for plain arrays: all points are listed as type 1
    int dimension = 3;
    DType dtype = DType::float32;                  ///< of the positions
    std::optional<std::array<double, 3>> box_size; ///< absent or all zero: open or unknown
    std::string invalid_box;                       ///< if the file states a box that has no meaning: which, and why;
                                                   ///< box_size is then absent, but space need not be open
    std::optional<double> time;                    ///< of cosmological snapshots the scale factor
    std::optional<double> redshift;
    std::optional<Frame> frame; ///< absent: not known to be cosmological, nothing is claimed
    /// Omega0, HubbleParam, UnitLength_in_cm, ... as found; those of SWIFT under Gadget's names, too.
    std::map<std::string, double> parameters;
    std::vector<std::string> warnings;        ///< one line each, for people
    std::vector<std::filesystem::path> files; ///< those that were read: one, or all of a snapshot in several
};

/// The particles of the selected types, in file order: types ascending, rows as stored.
struct Snapshot {
    SnapshotHeader header;
    RealArray positions;
    std::optional<RealArray> velocities;
    std::optional<RealArray> masses;     ///< one column; absent if every particle has uniform_mass
    std::optional<double> uniform_mass;  ///< absent if the file has no masses at all
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

struct ReadOptions {
    TypeSelection types;
    bool velocities = true; ///< false: skip columns that are not needed
    bool masses = true;
    bool ids = true;
};

/// One table of a file that holds several is named after a colon: any n x d dataset of an HDF5 file
/// (`halo.h5:/Coordinates`), an array of a .npz archive (`points.npz:positions`; the only one that can be points needs no
/// name). It has no types, masses or box. A file whose own name has the colon comes first.
///
/// A snapshot in several files (`name.0`, `name.1`, ... or `name.0.hdf5`, ...) is given by any of them or by its stem
/// (`name`, `name.hdf5`), and is read as one: types ascending, then files ascending.
///
/// Throws Error(file) for what is missing, too short (naming the byte), of no known format (naming those known), or
/// inconsistent beyond repair; Error(invalid_argument) for an empty selection of types, listing the counts of every type.
/// An array without rows is read as such.
[[nodiscard]] SnapshotHeader read_header(const std::filesystem::path& path);
[[nodiscard]] Snapshot read_snapshot(const std::filesystem::path& path, const ReadOptions& options = {});

/// The one path that stands for `files`, which are all the files of one snapshot, in any order: what a shell makes of
/// `snap_007.*.hdf5`. Nothing if they are not of one snapshot. Throws Error(invalid_argument), naming those left out, if
/// they are only some of its files; Error(file) for one that is missing or cannot be read.
[[nodiscard]] std::optional<std::filesystem::path> one_snapshot(const std::vector<std::filesystem::path>& files);

/// A Tipsy auxiliary array (.grp, .iord, .den, ...), ASCII or binary of either byte order: one value for each particle of
/// a snapshot, in its order (gas, dark, star); of reals also vectors of three, one a row. Binary files do not say whether
/// their numbers are whole; 4 bytes are read as int32 or float32. Throws Error(file) if the content does not fit its count.
[[nodiscard]] std::vector<std::int64_t> read_tipsy_integers(const std::filesystem::path& path);
[[nodiscard]] RealArray read_tipsy_reals(const std::filesystem::path& path);

/// What made an output. Every writer stores it.
struct Provenance {
    std::string program;                           ///< "kith 0.1.0"
    std::string command;                           ///< the command line, or the caller's words
    std::string input;                             ///< file name
    std::map<std::string, std::string> parameters; ///< linking_length, box, types, min_members, ... as text
};

/// A numpy array file (.npy, version 1.0, C order). `rows` x `columns`; columns = 0 writes a one-dimensional array.
void write_npy(const std::filesystem::path& path, std::span<const std::int32_t> values, std::int64_t columns = 0);
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values, std::int64_t columns = 0);
void write_npy(const std::filesystem::path& path, std::span<const float> values, std::int64_t columns = 0);
void write_npy(const std::filesystem::path& path, std::span<const double> values, std::int64_t columns = 0);

/// Neighbors as `indices` and `distances`, n x k, with the provenance: .npz (uncompressed; members indices.npy,
/// distances.npy, provenance.json) or HDF5 (datasets and root attributes).
void write_neighbors_npz(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance);
void write_neighbors_hdf5(const std::filesystem::path& path, const KnnResult& neighbors, const Provenance& provenance);

struct CatalogFileOptions {
    /// File name of a snapshot in group order, written for this catalog by write_sorted_snapshot(). Empty: there is none.
    std::string sorted_snapshot;
};

/// A halo catalog in the fof_subhalo_tab convention of Gadget-4 and AREPO, with an empty /Subhalo, kith's own columns
/// beside the convention's, /Members/Index (file rows in group order), /IDs/ID where the snapshot has ids, and the
/// provenance as attributes of /Header. No groups at all is a valid, empty catalog.
///
/// GroupLenType and GroupOffsetType, by which readers fetch members as rows of the snapshot, are written only beside a
/// sorted snapshot; MembersLenType, MembersOffset and MembersOffsetType, which refer to /Members/Index, always.
void write_catalog_hdf5(const std::filesystem::path& path, const Catalog& catalog, const Snapshot& snapshot,
                        const Box& box, const Provenance& provenance, const CatalogFileOptions& options = {});

/// The snapshot in group order, as Gadget-4 and AREPO write theirs and as readers of fof_subhalo_tab catalogs expect:
/// in each particle type the members of group 0, then those of group 1 and so on, within a group in file order; then all
/// rows that are in no group of the catalog, those of types that were not grouped among them, in file order. So the
/// members of type t of group g are the rows GroupOffsetType[g, t] to GroupOffsetType[g, t] + GroupLenType[g, t] - 1 of
/// PartType<t>, where the offset is the sum of count_by_type over the groups before; name the file in the options of
/// write_catalog_hdf5(), so that the catalog has these columns. `snapshot` is the one that was grouped; the other columns are read again from its header.files.
///
/// Of HDF5 input everything is written, into one file: each dataset of PartType0 to PartType6 and of the groups in them,
/// with its stored type (variable-length ones too), shape of a row and attributes, in the new order if it has one row per
/// particle and as it is if not; all other groups, attributes and soft links as they are (of several files: the first's).
/// The header's counts become those of one file. Chunked datasets stay chunked and keep deflate, shuffle, Fletcher-32,
/// szip and n-bit; scale-offset and plugin filters, which may lose digits each time, are read but not applied again.
/// Contiguous, compact and external datasets become contiguous. Left out is what says at which rows of the input
/// particles lie (SWIFT's /Cells, EAGLE's /HashTable), what refers to objects of the input, and, of several files, a
/// column that one of them lacks. Of Gadget-2 binary and Tipsy input, Coordinates, Velocities, Masses or MassTable, and
/// ParticleIDs are written, in Gadget-4's layout, and nothing else.
///
/// /Header gets the provenance; an attribute of the same name that the input's header has stays, unless kith wrote it.
/// Returns what was left out, one line each, for people. `progress` is called before each dataset.
///
/// Memory: one dataset, and of it a block of 16 MiB or one chunk across its rows again, and 8 bytes per row of one type;
/// for input that is not HDF5, the columns of one type and one of them again. Time: each file is read once, in order.
///
/// Throws Error(invalid_argument) if the snapshot has no types (arrays, tables, PLY) or names no files, if `path` is one
/// of these files, or if the catalog is not the snapshot's; Error(file) if a file cannot be read or has changed, or the
/// disk is full; Error(unsupported) for virtual datasets; Error(out_of_memory). Then nothing is written.
[[nodiscard]] std::vector<std::string> write_sorted_snapshot(const std::filesystem::path& path, const Catalog& catalog,
                                                             const Snapshot& snapshot, const Provenance& provenance,
                                                             const Progress& progress = {});

/// Tipsy group files: ASCII count, then one label plus one per particle of the file (0 = in no group); and a Tipsy
/// snapshot (std) with one star per group: mass, center, mean velocity, eps = largest radius.
void write_grp(const std::filesystem::path& path, std::span<const std::int32_t> labels);
void write_gtp(const std::filesystem::path& path, const Catalog& catalog, double time);

} // namespace kith::io
