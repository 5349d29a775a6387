// File readers and writers: snapshots (snapshot.hpp), results of searches (result_file.hpp) and, here, the catalogs and
// labels of groups, and snapshots in their order. Part of kith::io, which needs HDF5 only to read or write HDF5 files.
// result_file.hpp says how all writers replace a file, and what they throw.
#pragma once

#include <kith/catalog.hpp>
#include <kith/catalog_reader.hpp>
#include <kith/communicator.hpp>
#include <kith/progress.hpp>
#include <kith/result_file.hpp>
#include <kith/snapshot.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace kith::io {

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
