// Snapshots in files: their headers, their particles, and which of these are read. Part of kith::io, which needs HDF5
// only for HDF5 files.
//
// The format of a snapshot is detected from its content, never from its name. If a header and the data disagree, the
// data's shape wins and a warning says so. Sizes that a file claims are checked against its length before memory is
// allocated. Without HDF5, HDF5 files are refused with Error(unsupported).
#pragma once

#include <kith/catalog.hpp>
#include <kith/communicator.hpp>
#include <kith/points.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
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
    /// Gravitational softening of each type at this time: Plummer equivalent, in the units of the positions. 0: the
    /// file does not state it.
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

} // namespace kith::io
