// Halo catalogs in HDF5 files, read back: those that kith writes, and those of Gadget-4 and AREPO (fof_subhalo_tab).
//
// kith's own catalogs are read in full. Of the others, the columns are read that a Catalog has; `columns` lists all.
// Sizes that a file claims are checked before memory is taken. A catalog in several files is given by any of them or by
// its stem, as a snapshot is.
#pragma once

#include <kith/catalog.hpp>
#include <kith/points.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

/// One dataset of /Group. What the file does not say is empty.
struct CatalogFileColumn {
    std::string name;         ///< as in the file: "GroupMass"
    std::string_view field;   ///< the member of Catalog that holds it: "mass"; empty if it was not read
    std::int64_t columns = 1; ///< numbers in a row
    std::string description;
    std::string unit;
    std::string frame;
    std::optional<double> a_scaling; ///< exponent of the scale factor in the conversion to physical units
    std::optional<double> h_scaling; ///< exponent of the Hubble parameter in it
    std::optional<double> to_cgs;    ///< factor of it
};

struct CatalogFile {
    std::string format; ///< "HDF5 catalog (kith 0.1.0)", "HDF5 catalog (Gadget-4 or AREPO)"

    /// Columns that the file does not have are empty. `members` always is: group g owns the entries offset[g] to
    /// offset[g] + count[g] - 1 of file_rows and ids. `velocity` is the mean velocity in the units of the snapshot where
    /// kith wrote it, and otherwise GroupVel as it is stored. `center` is GroupCM or, where there is none, GroupPos.
    Catalog catalog;
    std::vector<std::int64_t>
        file_rows;                  ///< rows of the snapshot file, types ascending; only kith's own catalogs have them
    std::vector<std::uint64_t> ids; ///< of the same particles

    DType dtype = DType::float32; ///< in which positions are stored, and so rounded: that of the snapshot
    Box box;                      ///< a period for each axis; without origins, which a file does not hold
    std::optional<double> linking_length;
    std::optional<double> time;
    std::optional<double> redshift;
    std::map<std::string, double> parameters; ///< Omega0, HubbleParam, UnitLength_in_cm, ...; none that are made up
    std::map<std::string, std::string> provenance; ///< what `kith fof` records: Program, Command, Input, types, ...
    std::vector<CatalogFileColumn> columns;        ///< every dataset of /Group, by name
    std::vector<std::string> warnings;             ///< one line each, for people
    std::vector<std::filesystem::path> files;      ///< those that were read
};

struct CatalogReadOptions {
    bool members = true; ///< false: leave file_rows and ids empty
};

/// Whether this is an HDF5 file (or the stem of several) that read_catalog() takes for a catalog. False for a file that
/// cannot be opened, and in a build without HDF5.
[[nodiscard]] bool is_catalog(const std::filesystem::path& path);

/// Throws Error(file) for what is missing, damaged, inconsistent, or no catalog; the message names the dataset.
[[nodiscard]] CatalogFile read_catalog(const std::filesystem::path& path, const CatalogReadOptions& options = {});

} // namespace kith::io
