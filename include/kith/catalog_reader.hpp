// Reads halo catalogs from HDF5 files: kith's own, and those of Gadget-4 and AREPO (fof_subhalo_tab).
//
// kith's own catalogs are read in full, of others the columns that a Catalog has; `columns` lists all. Sizes that a
// file claims are checked before memory is allocated. For a multi-file catalog pass any file or the stem, as for
// snapshots.
#pragma once

#include <kith/catalog.hpp>
#include <kith/halos.hpp>
#include <kith/points.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

/// One dataset of /Group or /Subhalo. What the file does not state is empty.
struct CatalogFileColumn {
    std::string name;         ///< as in the file: "GroupMass"
    std::string_view field;   ///< the member of Catalog or Halos that holds it: "mass"; empty if it was not read
    std::int64_t columns = 1; ///< numbers in a row
    std::string description;
    std::string unit;
    std::string frame;
    std::optional<double> a_scaling; ///< exponent of the scale factor in the conversion to physical units
    std::optional<double> h_scaling; ///< exponent of the Hubble parameter in the same conversion
    std::optional<double> to_cgs;    ///< factor to cgs units in the same conversion
};

struct CatalogFile {
    std::string format; ///< "HDF5 catalog (kith 0.1.0)", "HDF5 catalog (Gadget-4 or AREPO)"

    /// Columns that the file lacks are empty. `members` is always empty: the members of group g are the entries
    /// offset[g] to offset[g] + count[g] - 1 of file_rows and ids. `velocity` is the mean velocity in the units of the
    /// snapshot if kith wrote it, otherwise GroupVel as stored. `center` is GroupCM, or GroupPos if there is none.
    /// `box` has one period per axis, and no origins, which the file does not store.
    Catalog catalog;
    /// The bound halos, if the file has any or kith sought them. Columns that the file lacks are empty, and so are
    /// `members`, `energies` and `offset`; `count` are bound members, which `kith halos` writes in front of a group's
    /// others of each type. Of the options, min_members and overdensities are those of the file; spheres, which the
    /// file has by group, are those of a group's first halo.
    std::optional<Halos> halos;
    std::vector<std::int64_t> file_rows; ///< rows of the snapshot file, types ascending; kith's own catalogs only
    std::vector<std::uint64_t> ids;      ///< of the same particles

    DType dtype = DType::float32; ///< type of the stored (rounded) positions: that of the snapshot
    std::optional<double> linking_length;
    std::optional<double> time;
    std::optional<double> redshift;
    std::map<std::string, double> parameters;      ///< Omega0, HubbleParam, UnitLength_in_cm, ...; none invented
    std::map<std::string, std::string> provenance; ///< what `kith fof` records: Program, Command, Input, types, ...
    std::vector<CatalogFileColumn> columns;        ///< every dataset of /Group, by name
    std::vector<CatalogFileColumn> halo_columns;   ///< and of /Subhalo
    std::vector<std::string> warnings;             ///< one line each, human-readable
    std::vector<std::filesystem::path> files;      ///< files read
};

struct CatalogReadOptions {
    bool members = true; ///< false: leave file_rows and ids empty
};

/// Whether this is an HDF5 file (or the stem of several) that read_catalog() recognizes as a catalog. False for a file
/// that cannot be opened, and in a build without HDF5.
[[nodiscard]] bool is_catalog(const std::filesystem::path& path);

/// Throws Error: file (missing, damaged, inconsistent, or no catalog; the text names the dataset), out_of_memory,
/// unsupported (such as a build without HDF5).
[[nodiscard]] CatalogFile read_catalog(const std::filesystem::path& path, const CatalogReadOptions& options = {});

} // namespace kith::io
