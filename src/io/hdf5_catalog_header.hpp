// What a halo catalog in HDF5 says about itself, without its columns.
#pragma once

#include "io/hdf5_handle.hpp"

#include <kith/catalog_reader.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kith::io::hdf5 {

/// The attributes of /Header that state an io::Provenance, in catalogs and in sorted snapshots.
inline constexpr std::array provenance_names = {"Program",
                                                "Command",
                                                "Input",
                                                "G",
                                                "H",
                                                "b",
                                                "box",
                                                "crossing",
                                                "least_radius",
                                                "linking_length",
                                                "mean_separation",
                                                "min_members",
                                                "min_overdensity",
                                                "omega_matter",
                                                "omega_sim",
                                                "overdensities",
                                                "psi",
                                                "psi_as_stored",
                                                "psi_sigma",
                                                "sample",
                                                "seed",
                                                "softening",
                                                "softening_kernel",
                                                "spheres_of",
                                                "types",
                                                "unbind",
                                                "units",
                                                "velocity_scale",
                                                "volume",
                                                "volume_kind"};

struct OpenCatalog {
    std::string name; ///< for messages
    File file;
    Object header; ///< negative if there is no /Header
};

/// Throws Error(file) for HDF5 files that are no catalogs.
[[nodiscard]] OpenCatalog open_catalog(const std::filesystem::path& path);
[[nodiscard]] bool holds_catalog(hid_t file);

/// A whole number of /Header; nothing if it is absent. Throws Error(file) for one that is negative or no number.
[[nodiscard]] std::optional<std::int64_t> count_attribute(const OpenCatalog& catalog, const char* name);

/// Format, box, time, redshift, parameters, provenance, and warnings about these. The box must suit `dimension`.
void read_catalog_header(const OpenCatalog& opened, int dimension, CatalogFile& catalog);

/// Adds the datasets of a group that are not listed yet, as their attributes describe them.
void list_columns(const OpenCatalog& opened, const char* group, std::vector<CatalogFileColumn>& columns);

/// The text of a number in the provenance; nothing if there is none.
[[nodiscard]] std::optional<double> number_in(const CatalogFile& catalog, const char* parameter);

} // namespace kith::io::hdf5
