// Halo catalogs in the fof_subhalo_tab convention of Gadget-4 and AREPO, under the names of both:
//
//   /Header          attributes Ngroups_*, Nsubhalos_* and Nsubgroups_*, Nids_* (* is ThisFile and Total), NumFiles,
//                    Time (NaN if unknown), Redshift, Omega0, OmegaLambda, HubbleParam, the units if known, BoxSize (0:
//                    open; one number per axis where the axes differ), Dimension, SortedSnapshot if there is one,
//                    Masses (text, only if the input names none and members were counted instead), InputCounts (how
//                    many particles of each type the input holds, grouped or not: to tell what the rows below count),
//                    the provenance
//   /Parameters      what the snapshot says of cosmology and units, under the names found there
//   /Group           one row per group; the convention's columns and kith's own beside them
//   /Subhalo         of a file of halos, one row per bound halo (halo_columns.cpp). Else it is empty: readers expect the
//                    group. Without subhalos it holds no datasets: yt and pynbody divide by their number for each one
//   /Members/Index   rows of the snapshot file, group after group, within a group by type, then ascending
//   /IDs/ID          the same particles' ids, if the snapshot has ids
//
// Readers of the convention take the members of a group from the snapshot: GroupLenType[group, type] rows of PartTypeN
// from GroupOffsetType[group, type] or, without offsets, from the sum of the lengths before. That is right only for a
// snapshot in group order, so both columns are written only beside one. MembersLenType and MembersOffsetType, which
// refer to /Members/Index, are always there. Positions and velocities are stored as wide as the snapshot's; masses,
// which are sums, always as float64.
//
// Every column carries the attributes description, unit and frame; where the frame of the input is known, also those of
// Gadget-4: physical cgs value = number * to_cgs * a^a_scaling * h^h_scaling.
#include "io/catalog_columns.hpp"
#include "io/frame.hpp"
#include "io/halo_columns.hpp"
#include "io/hdf5_create.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kith::io {

namespace {

void describe(const hdf5::OutputFile& file, hid_t dataset, ColumnKind kind, const std::optional<Frame>& frame) {
    const std::string_view unit = unit_of(kind);
    file.set_text(dataset, "unit", std::string(unit));
    file.set_text(dataset, "frame", std::string(frame_of(kind, frame)));
    const std::optional<Scaling> scaling = frame ? scaling_of(kind, *frame) : std::nullopt;
    if (!scaling) {
        return;
    }
    const auto is_of = [&](std::string_view other) { return unit.find(other) != std::string_view::npos ? 1.0 : 0.0; };
    file.set(dataset, "a_scaling", scaling->a_power);
    file.set(dataset, "h_scaling", scaling->h_power);
    file.set(dataset, "length_scaling", is_of("code length"));
    file.set(dataset, "mass_scaling", is_of("code mass"));
    file.set(dataset, "velocity_scaling", is_of("code velocity"));
    if (scaling->to_cgs) {
        file.set(dataset, "to_cgs", *scaling->to_cgs);
    }
}

hid_t stored_type(ColumnType type) {
    const std::array types = {hdf5::number_type<std::uint8_t>(), hdf5::number_type<std::int32_t>(),
                              hdf5::number_type<std::int64_t>(), hdf5::number_type<float>(),
                              hdf5::number_type<double>()};
    return types[static_cast<std::size_t>(type)].stored;
}

void write_columns(const hdf5::OutputFile& file, const char* group, const std::vector<FileColumn>& columns,
                   const std::optional<Frame>& frame) {
    const hdf5::Group opened = file.make_group(group);
    file.set(opened.get(), "NTask", std::int32_t{1});
    for (const FileColumn& column : columns) {
        std::visit(
            [&]<class T>(const std::vector<T>& values) {
                const auto dataset = file.write(
                    message(group, "/", column.name), {stored_type(column.type), hdf5::number_type<T>().memory},
                    values.data(), std::ssize(values) / column.width,
                    column.shape == ColumnShape::scalar ? 0 : column.width, column.description);
                describe(file, dataset.get(), column.kind, frame);
            },
            column.values());
    }
}

void write_members(const hdf5::OutputFile& file, std::int64_t count, const MemberSource& members) {
    const hdf5::Group group = file.make_group("Members");
    file.write_stream("Members/Index", hdf5::number_type<std::int64_t>(), count, 0,
                      "row among all particles of the snapshot file, types ascending, from 0", members.next);
    if (members.has_ids) {
        const hdf5::Group ids = file.make_group("IDs");
        file.write_stream("IDs/ID", hdf5::number_type<std::uint64_t>(), count, 0,
                          "ids of the particles in /Members/Index", members.next);
    }
}

// Rows and ids of the members of a catalog in memory.
MemberSource source_of(const IndexArray& members, const Snapshot& snapshot) {
    return {!snapshot.ids.empty(), [&, next = std::int64_t{0}](std::span<std::byte> block) mutable {
                const std::span values(reinterpret_cast<std::uint64_t*>(block.data()), block.size() / 8);
                std::generate(values.begin(), values.end(), [&] {
                    const std::int64_t at = next++;
                    return at < members.size() ? static_cast<std::uint64_t>(snapshot.file_rows[members[at]])
                                               : snapshot.ids[members[at - members.size()]];
                });
            }};
}

// Readers need the cosmology of every catalog. Where the input has none, the values are those that Gadget writes for a
// run without cosmology, and a text says which are not of the input.
void write_cosmology(const hdf5::OutputFile& file, hid_t header, const SnapshotHeader& input) {
    std::string missing;
    const auto set = [&](const char* name, std::optional<double> value, double without) {
        missing += value ? "" : (missing.empty() ? "" : ", ") + std::string(name);
        file.set(header, name, value.value_or(without));
    };
    set("Redshift", input.redshift, 0);
    set("Omega0", value_of(input.parameters, "Omega0"), 0);
    set("OmegaLambda", value_of(input.parameters, "OmegaLambda"), 0);
    set("HubbleParam", value_of(input.parameters, "HubbleParam"), 1);
    if (!missing.empty()) {
        file.set_text(header, "Cosmology", "not in the input, set as for a run without cosmology: " + missing);
    }
    for (const char* unit : {"UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"}) {
        if (const std::optional<double> value = value_of(input.parameters, unit)) {
            file.set(header, unit, *value);
        }
    }
}

void write_header(const hdf5::OutputFile& file, const CatalogSource& source, const Provenance& provenance,
                  const std::string& sorted_snapshot, std::int64_t halos) {
    const Catalog& catalog = source.catalog;
    const Snapshot& snapshot = source.snapshot;
    const hdf5::Group group = file.make_group("Header");
    const hid_t header = group.get();
    const std::int64_t members = members_of(catalog);
    for (const char* suffix : {"_ThisFile", "_Total"}) {
        file.set(header, std::string("Ngroups") + suffix, catalog.groups);
        file.set(header, std::string("Nsubhalos") + suffix, halos);
        file.set(header, std::string("Nsubgroups") + suffix, halos);
        file.set(header, std::string("Nids") + suffix, members);
    }
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    file.set(header, "NumFiles", std::int32_t{1});
    file.set(header, "Time", snapshot.header.time.value_or(unknown));
    write_cosmology(file, header, snapshot.header);
    file.set(header, "Dimension", std::int32_t{snapshot.header.dimension});

    std::vector<double> periods;
    periods.reserve(snapshot.header.dimension);
    for (int axis = 0; axis < snapshot.header.dimension; ++axis) {
        periods.push_back(catalog.box.period(axis));
    }
    file.set_box_size(header, periods);
    if (!sorted_snapshot.empty()) {
        file.set_text(header, "SortedSnapshot", sorted_snapshot);
    }
    if (counts_as_mass(source)) {
        file.set_text(header, "Masses", "none in the input: each particle counts as mass 1");
    }
    file.set_all(header, "InputCounts", std::span<const std::int64_t>(snapshot.header.counts));
    file.set_provenance(header, provenance);

    if (!snapshot.header.parameters.empty()) {
        const hdf5::Group parameters = file.make_group("Parameters");
        for (const auto& [name, value] : snapshot.header.parameters) {
            file.set(parameters.get(), name, value);
        }
    }
}

} // namespace

void write_catalog_hdf5(const std::filesystem::path& path, const Catalog& catalog, const Snapshot& snapshot,
                        const Provenance& provenance, const CatalogFileOptions& options) {
    require_consistent(catalog, snapshot);
    stream_catalog_hdf5(path, catalog, source_of(catalog.member_array, snapshot), snapshot, provenance, options);
}

void stream_catalog_hdf5(const std::filesystem::path& path, const Catalog& columns, const MemberSource& members,
                         const Snapshot& snapshot, const Provenance& provenance, const CatalogFileOptions& options) {
    require_columns(columns);
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    const CatalogSource source{columns, snapshot, !options.sorted_snapshot.empty()};
    write_header(file, source, provenance, options.sorted_snapshot, 0);
    write_columns(file, "Group", columns_of(source), snapshot.header.frame);
    const hdf5::Group subhalos = file.make_group("Subhalo");
    write_members(file, members_of(columns), members);
    file.commit();
}

void write_halos_hdf5(const std::filesystem::path& path, const Halos& halos, const Catalog& groups,
                      const Snapshot& snapshot, const Provenance& provenance, const HaloFileOptions& options) {
    require_consistent(groups, snapshot);
    stream_halos_hdf5(path, halos, groups, source_of(groups.member_array, snapshot), snapshot, provenance, options);
}

void stream_halos_hdf5(const std::filesystem::path& path, const Halos& halos, const Catalog& groups,
                       const MemberSource& members, const Snapshot& snapshot, const Provenance& provenance,
                       const HaloFileOptions& options) {
    const HaloSource source{halos, {groups, snapshot, !options.sorted_snapshot.empty()}, options.circular_velocities};
    require_consistent(source);
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    write_header(file, source.groups, provenance, options.sorted_snapshot, halos.halos);
    write_columns(file, "Group", columns_of_groups(source), snapshot.header.frame);
    // Without halos there are no datasets.
    write_columns(file, "Subhalo", halos.halos > 0 ? columns_of_halos(source) : std::vector<FileColumn>(),
                  snapshot.header.frame);
    write_members(file, members_of(groups), members);
    file.commit();
}

} // namespace kith::io
