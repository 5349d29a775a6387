// Writes bound halos in the fof_subhalo_tab convention of Gadget-4 and AREPO: the catalog of the groups in /Group, with
// one subhalo per bound halo in /Subhalo; and as tables. Part of kith::io.
#pragma once

#include <kith/catalog_file.hpp>
#include <kith/halos.hpp>
#include <kith/io.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kith::io {

/// "200m", "500c", "vir": what the program and Python call it; and the end of its columns, "Mean200", "Crit500",
/// "TopHat200".
[[nodiscard]] std::string short_name(const Overdensity& overdensity);
[[nodiscard]] std::string column_name(const Overdensity& overdensity);
/// The inverse of both; nothing for a text that is no such name.
[[nodiscard]] std::optional<Overdensity> overdensity_named(std::string_view name);

/// Brings the members of the groups into the order of the halos: in each group and type first the bound ones by energy,
/// then the others by index. `groups` is the catalog of the same groups, with the same min_members. Throws
/// Error(invalid_argument) if it is not.
void order_members(Catalog& groups, const Halos& halos, const Snapshot& snapshot);

struct HaloFileOptions {
    std::string sorted_snapshot;     ///< as in CatalogFileOptions
    bool circular_velocities = true; ///< false: leaves SubhaloVmax out, as where G is unknown
};

/// Writes what write_catalog_hdf5() writes of the groups, whose members must be in the order that order_members() gives
/// them, with these differences: GroupPos is the potential minimum of the group's halo (of a group without one, the
/// center of mass), GroupCM the center of mass of the group; Group_R_* and Group_M_* are the spheres about GroupPos,
/// for each of the overdensities (0 for a group without halo); GroupNsubs, GroupFirstSub and /Subhalo refer to the
/// halos.
/// Throws as write_catalog_hdf5() and order_members().
void write_halos_hdf5(const std::filesystem::path& path, const Halos& halos, const Catalog& groups,
                      const Snapshot& snapshot, const Provenance& provenance, const HaloFileOptions& options = {});

/// The same file, byte for byte, from the columns of all groups and halos, and from members that are made while they
/// are written. Of the snapshot it needs what stream_catalog_hdf5() needs, and of each halo's most bound member, which
/// is row halos.member_array[halos.offset[i]], the row of the file and the id.
void stream_halos_hdf5(const std::filesystem::path& path, const Halos& halos, const Catalog& groups,
                       const MemberSource& members, const Snapshot& snapshot, const Provenance& provenance,
                       const HaloFileOptions& options = {});

/// Writes the halos as a table, one row per halo: its number, then the columns of /Subhalo with in_table() and the
/// spheres about it, as write_catalog_table() writes those of groups; of a catalog without members, as
/// stream_halos_hdf5(). Throws as write_halos_hdf5().
void write_halos_table(const std::filesystem::path& path, TableFormat format, const Halos& halos, const Catalog& groups,
                       const Snapshot& snapshot, const Provenance& provenance, const HaloFileOptions& options = {});

} // namespace kith::io
