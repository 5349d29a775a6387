// What an HDF5 snapshot holds, found out once for its header and for its particles.
#pragma once

#include "io/hdf5_handle.hpp"
#include "io/particle_source.hpp"

#include <array>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

namespace kith::io::hdf5 {

struct SnapshotFile {
    std::string name; ///< for messages
    File file;

    /// Opens PartType<type>/<one of the names>; nothing if the group has none of them.
    [[nodiscard]] std::optional<Dataset> find(std::size_t type, std::initializer_list<const char*> names) const;
    /// The same without looking at its values, which may not be there: for attributes and shape. Nothing for a link
    /// whose target is missing.
    [[nodiscard]] std::optional<Dataset> describe(std::size_t type, std::initializer_list<const char*> names) const;
};

/// "PartType0"
[[nodiscard]] std::string group_name(std::size_t type);

/// Names of the parameters of a run that are kept from a file's attributes.
inline constexpr std::array kept_parameters = {"Omega0",
                                               "OmegaLambda",
                                               "OmegaBaryon",
                                               "HubbleParam",
                                               "Omega_m",
                                               "Omega_lambda",
                                               "Omega_b",
                                               "Omega_r",
                                               "w_0",
                                               "w_a",
                                               "Omega_Matter",
                                               "Omega_Lambda",
                                               "Omega_Baryon",
                                               "Hubble",
                                               "h",
                                               "UnitLength_in_cm",
                                               "UnitMass_in_g",
                                               "UnitVelocity_in_cm_per_s",
                                               "UnitLength_In_CGS",
                                               "UnitMass_In_CGS",
                                               "UnitVelocity_In_CGS",
                                               "Scale-factor",
                                               "ExpansionFactor",
                                               "Unit length in cgs (U_L)",
                                               "Unit mass in cgs (U_M)",
                                               "Unit time in cgs (U_t)"};

/// Throws Error(file) for HDF5 files that are no snapshots.
[[nodiscard]] SnapshotFile open_snapshot(const std::filesystem::path& path);
[[nodiscard]] FileSummary summarize(const SnapshotFile& snapshot);

} // namespace kith::io::hdf5
