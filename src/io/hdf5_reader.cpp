// The particles of HDF5 snapshots: each column is one dataset per type (the header is read in hdf5_snapshot.cpp).
#include "io/hdf5_signature.hpp"
#include "io/hdf5_snapshot.hpp"
#include "io/hdf5_table.hpp"
#include "io/hdf5_virtual.hpp"
#include "io/particle_source.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"

#include <algorithm>

namespace kith::io {

namespace {

class Hdf5Source final : public ParticleSource {
protected:
    void open_file(const std::filesystem::path& path) override { file_ = hdf5::open_snapshot(path); }
    std::vector<MappedPart> mapped_parts() override { return hdf5::mapped_parts(file_); }
    FileSummary summarize() override { return hdf5::summarize(file_); }
    [[nodiscard]] std::string way_to_one_file(const SnapshotHeader& header) const override;
    std::optional<DType> stored(Column column, const Part& part) override {
        const std::optional<hdf5::Dataset> dataset = find(column, part);
        return dataset ? std::optional(dataset->dtype()) : std::nullopt;
    }
    void read(Column column, const Part& part, DType dtype, void* out) override {
        find(column, part).value().read(hdf5::native_type(dtype), part.begin, part.count, out);
    }
    bool has_ids(const Part& part) override { return find_ids(part).has_value(); }
    void read_ids(const Part& part, std::uint64_t* out) override;
    [[nodiscard]] std::string_view type_prefix() const override { return "PartType"; }

private:
    [[nodiscard]] std::optional<hdf5::Dataset> find(Column column, const Part& part) const {
        switch (column) {
        case Column::positions:
            return checked(part, header().dimension, {"Coordinates"});
        case Column::velocities:
            return checked(part, header().dimension, {"Velocities", "Velocity"});
        case Column::internal_energies:
            return checked(part, 1, {"InternalEnergy", "InternalEnergies"});
        default:
            return checked(part, 1, {"Masses", "Mass"});
        }
    }
    [[nodiscard]] std::optional<hdf5::Dataset> find_ids(const Part& part) const {
        return checked(part, 1, {"ParticleIDs"});
    }
    [[nodiscard]] std::optional<hdf5::Dataset> checked(const Part& part, std::int64_t columns,
                                                       std::initializer_list<const char*> names) const;

    hdf5::Session session_; ///< outlives the file
    hdf5::SnapshotFile file_;
};

std::string Hdf5Source::way_to_one_file(const SnapshotHeader& header) const {
    const auto some = [](std::int64_t count) { return count > 0; };
    const auto first = std::find_if(header.counts.begin(), header.counts.end(), some);
    const std::size_t type = header.counts[1] > 0 ? 1 : first - header.counts.begin();
    return first == header.counts.end() ? ""
                                        : message("; to read the points of this file alone, without box and masses, "
                                                  "name them: ",
                                                  file_.name, ":/PartType", type, "/Coordinates");
}

std::optional<hdf5::Dataset> Hdf5Source::checked(const Part& part, std::int64_t columns,
                                                 std::initializer_list<const char*> names) const {
    std::optional<hdf5::Dataset> dataset = file_.find(part.type, names);
    if (dataset && (dataset->rows != part.rows || dataset->columns != columns)) {
        refuse(file_.name, dataset->name, " is ", dataset->rows, " x ", dataset->columns, ", but PartType", part.type,
               "/Coordinates has ", part.rows, " rows; ", part.rows, " x ", columns, " was expected");
    }
    return dataset;
}

// Ids of any numeric type. Signed ones keep their bits; floating-point ones are whole numbers, exact up to 2^53.
void Hdf5Source::read_ids(const Part& part, std::uint64_t* out) {
    const hdf5::Dataset dataset = find_ids(part).value();
    dataset.read(dataset.is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, part.begin, part.count, out);
    const auto inexact = [](std::uint64_t id) { return id >= std::uint64_t{1} << 53; };
    if (dataset.type == H5T_FLOAT && std::any_of(out, out + part.count, inexact)) {
        warn(message(dataset.name, " holds floating-point numbers of 2^53 and more: these ids are not exact"));
    }
}

} // namespace

const Reader hdf5_reader = {"HDF5 snapshots (Gadget, AREPO, SWIFT) and datasets (FILE:/path)",
                            is_hdf5,
                            header_from<Hdf5Source>,
                            snapshot_from<Hdf5Source>,
                            true,
                            hdf5::table_header,
                            hdf5::table_snapshot};

} // namespace kith::io
