// The parts of writing a snapshot in group order: its header, and the columns of inputs that are not HDF5.
#pragma once

#include "io/hdf5_create.hpp"
#include "io/hdf5_ranks.hpp"
#include "io/particle_source.hpp"

#include <kith/io.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kith::io {

namespace hdf5 {

/// Sets a list of numbers of particles. An attribute of that name keeps its type where that holds the numbers, and its
/// length where that holds all that are not zero; else it becomes one of uint64.
void replace_counts(const OutputFile& file, hid_t object, const std::string& attribute,
                    const std::vector<std::int64_t>& counts);

/// Makes /Header that of a snapshot in one file with so many particles, under all names by which codes know them.
void write_counts(const OutputFile& file, const TypeCounts& counts);

/// Sets MassTable of /Header, where the files of the input had different ones.
void write_mass_table(const OutputFile& file, const MassTable& masses);

/// The provenance as attributes of /Header. A name that the copied header has already stays what it was; what an
/// earlier run of kith wrote goes first.
void write_provenance_of_copy(const OutputFile& file, const Provenance& provenance);

} // namespace hdf5

/// Says how far the work is. Throws Error(canceled) where the caller stops it.
void report_sorting(const Progress& progress, double share);

/// Throws Error(file) if a file no longer has the particles that the snapshot had when it was read.
void require_same_counts(const TypeCounts& found, const SnapshotHeader& header);

/// write_sorted_snapshot() for inputs that are not HDF5. Over ranks collective.
[[nodiscard]] std::vector<std::string> write_sorted_columns(hdf5::Ranks& ranks, const std::filesystem::path& path,
                                                            const Catalog& catalog, const Snapshot& snapshot,
                                                            const Provenance& provenance, const Progress& progress);

/// write_sorted_snapshot() of a binary Tipsy file, as one. Over ranks collective.
void write_sorted_records(hdf5::Ranks& ranks, const std::filesystem::path& path, const Catalog& catalog,
                          const Snapshot& snapshot, const Progress& progress);

} // namespace kith::io
