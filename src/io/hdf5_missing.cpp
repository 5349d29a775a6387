// In place of the HDF5 files in a build without HDF5: the format is recognized, and refused with the remedy.
#include "io/hdf5_signature.hpp"
#include "io/reader.hpp"
#include "io/result_arrays.hpp"
#include "io/result_file.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>
#include <kith/halo_file.hpp>

namespace kith::io {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path) {
    throw detail::error(ErrorKind::unsupported, path.string(),
                        ": this build of kith has no HDF5; configure it "
                        "with KITH_HDF5=ON");
}

template <class Result, class... Options>
Result read(const std::filesystem::path& path, Options...) {
    refuse(path);
}

} // namespace

const Reader hdf5_reader = {"HDF5 snapshots (not in this build)",
                            is_hdf5,
                            read<SnapshotHeader>,
                            read<Snapshot>,
                            false,
                            read<SnapshotHeader>,
                            read<Snapshot>};

std::optional<ResultFile> describe_hdf5_result(const std::filesystem::path& path) {
    refuse(path);
}

bool is_catalog(const std::filesystem::path&) {
    return false; // so that reading it as points says what is missing
}

CatalogFile read_catalog(const std::filesystem::path& path, const CatalogReadOptions&) {
    refuse(path);
}

void write_arrays_hdf5(const std::filesystem::path& path, const StreamedArrays&, const Provenance&) {
    refuse(path);
}

void write_fof_ladder_hdf5(const std::filesystem::path& path, const FofLadder&, std::span<const std::int64_t>,
                           const Provenance&, const LabelsOfLevel&) {
    refuse(path);
}

void stream_fof_ladder_hdf5(const std::filesystem::path& path, const FofLevelsSource&, const Provenance&) {
    refuse(path);
}

FofLevelsFile read_fof_levels(const std::filesystem::path& path) {
    refuse(path);
}

std::vector<std::int32_t> read_fof_labels(const std::filesystem::path& path, std::int64_t) {
    refuse(path);
}

void write_catalog_hdf5(const std::filesystem::path& path, const Catalog&, const Snapshot&, const Provenance&,
                        const CatalogFileOptions&) {
    refuse(path);
}

void stream_catalog_hdf5(const std::filesystem::path& path, const Catalog&, const MemberSource&, const Snapshot&,
                         const Provenance&, const CatalogFileOptions&) {
    refuse(path);
}

void write_halos_hdf5(const std::filesystem::path& path, const Halos&, const Catalog&, const Snapshot&,
                      const Provenance&, const HaloFileOptions&) {
    refuse(path);
}

void stream_halos_hdf5(const std::filesystem::path& path, const Halos&, const Catalog&, const MemberSource&,
                       const Snapshot&, const Provenance&, const HaloFileOptions&) {
    refuse(path);
}

std::vector<std::string> write_sorted_snapshot(const std::filesystem::path& path, const Catalog&, const Snapshot&,
                                               const Provenance&, const Progress&, Communicator*) {
    refuse(path);
}

} // namespace kith::io
