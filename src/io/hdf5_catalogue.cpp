// Halo catalogs in the fof_subhalo_tab convention of Gadget-4 and AREPO, under the names of both:
//
//   /Header          attributes Ngroups_*, Nsubhalos_* and Nsubgroups_*, Nids_* (* is ThisFile and Total), NumFiles,
//                    Time (NaN if unknown), Redshift, Omega0, OmegaLambda, HubbleParam, the units if known, BoxSize (0:
//                    open; one number per axis where the axes differ), Dimension, SortedSnapshot if there is one,
//                    Masses (text, only if the input names none and members were counted instead), the provenance
//   /Parameters      what the snapshot says of cosmology and units, under the names found there
//   /Group           one row per group; the convention's columns and kith's own beside them
//   /Subhalo         empty: no subhalos are sought, but readers expect the group. It holds no datasets: yt and pynbody
//                    divide by the number of subhalos for each one they find
//   /Members/Index   rows of the snapshot file, group after group, within a group by type, then ascending
//   /IDs/ID          the same particles' ids, if the snapshot has ids
//
// Readers of the convention take the members of a group from the snapshot: GroupLenType[group, type] rows of PartTypeN
// from GroupOffsetType[group, type] or, without offsets, from the sum of the lengths before. That is right only for a
// snapshot in group order, so both columns are written only beside one. MembersLenType and MembersOffsetType, which
// refer to /Members/Index, are always there. Positions and velocities are stored as wide as the snapshot's; masses,
// which are sums, always as float64. Every column carries a description.
#include "io/hdf5_create.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::io {

using detail::message;

namespace {

void require_rows(std::size_t found, std::int64_t expected, std::string_view what) {
    if (static_cast<std::int64_t>(found) != expected) {
        throw Error(ErrorKind::invalid_argument,
                    message("the catalogue's ", what, " has ", found, " entries where ", expected, " were expected"));
    }
}

// Refuses before a file is begun: columns of the wrong length, members that the snapshot does not have.
void require_consistent(const Catalogue& catalogue, const Snapshot& snapshot) {
    const std::int64_t groups = catalogue.groups;
    const std::int64_t vectors = groups * catalogue.dimension;
    const auto members = static_cast<std::int64_t>(catalogue.members.size());
    require_rows(catalogue.offset.size(), groups, "offset");
    require_rows(catalogue.count.size(), groups, "count");
    require_rows(catalogue.count_by_type.size(), groups * max_types, "count_by_type");
    require_rows(catalogue.mass.size(), groups, "mass");
    require_rows(catalogue.mass_by_type.size(), groups * max_types, "mass_by_type");
    require_rows(catalogue.centre.size(), vectors, "centre");
    require_rows(catalogue.velocity.size(), catalogue.velocity.empty() ? 0 : vectors, "velocity");
    require_rows(catalogue.velocity_dispersion.size(), catalogue.velocity.empty() ? 0 : groups, "velocity_dispersion");
    require_rows(catalogue.inertia_radius.size(), groups, "inertia_radius");
    require_rows(catalogue.largest_radius.size(), groups, "largest_radius");
    require_rows(catalogue.lower.size(), vectors, "lower");
    require_rows(catalogue.upper.size(), vectors, "upper");
    require_rows(catalogue.wide.size(), groups, "wide");
    require_rows(catalogue.members.size(),
                 std::accumulate(catalogue.count.begin(), catalogue.count.end(), std::int64_t{0}), "members");

    const auto rows = static_cast<std::int64_t>(snapshot.file_rows.size());
    const auto outside = std::find_if(catalogue.members.begin(), catalogue.members.end(),
                                      [&](std::int32_t member) { return member < 0 || member >= rows; });
    if (outside != catalogue.members.end()) {
        throw Error(ErrorKind::invalid_argument,
                    message("member ", outside - catalogue.members.begin(), " of the catalogue is row ", *outside,
                            ", but the snapshot has ", rows, " rows; pass the snapshot that was grouped"));
    }
    if (!snapshot.ids.empty() && static_cast<std::int64_t>(snapshot.ids.size()) != rows) {
        throw Error(ErrorKind::invalid_argument,
                    message("the snapshot has ", snapshot.ids.size(), " ids for ", rows, " rows"));
    }
    const auto large = std::find_if(catalogue.count.begin(), catalogue.count.end(), [](std::int64_t count) {
        return count > std::numeric_limits<std::int32_t>::max();
    });
    if (large != catalogue.count.end() || members > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ErrorKind::too_large, "a group of 2^31 members or more cannot be stored: GroupLen is 32 bits wide");
    }
}

// Where the members of each type begin in /Members/Index.
std::vector<std::int64_t> member_offsets_by_type(const Catalogue& catalogue) {
    std::vector<std::int64_t> offsets(catalogue.count_by_type.size());
    for (std::int64_t group = 0; group < catalogue.groups; ++group) {
        const auto first = catalogue.count_by_type.begin() + group * max_types;
        std::exclusive_scan(first, first + max_types, offsets.begin() + group * max_types,
                            catalogue.offset[static_cast<std::size_t>(group)]);
    }
    return offsets;
}

// Where they begin within PartTypeN of a snapshot in group order.
std::vector<std::int64_t> snapshot_offsets_by_type(const Catalogue& catalogue) {
    std::vector<std::int64_t> offsets(catalogue.count_by_type.size());
    for (std::size_t i = max_types; i < offsets.size(); ++i) {
        offsets[i] = offsets[i - max_types] + catalogue.count_by_type[i - max_types];
    }
    return offsets;
}

std::vector<std::int32_t> narrowed(const std::vector<std::int64_t>& counts) {
    std::vector<std::int32_t> narrow(counts.size());
    std::transform(counts.begin(), counts.end(), narrow.begin(),
                   [](std::int64_t count) { return static_cast<std::int32_t>(count); });
    return narrow;
}

// The columns of /Group.
class GroupTable {
public:
    GroupTable(const hdf5::OutputFile& file, const Catalogue& catalogue) : file_(file), groups_(catalogue.groups) {}

    template <class T>
    void write(const char* name, const std::vector<T>& values, std::int64_t columns, const char* description) const {
        file_.write(message("Group/", std::string_view(name)), hdf5::number_type<T>(), values.data(), groups_, columns,
                    description);
    }
    /// Doubles, stored as wide as `stored`.
    void write_as(DType stored, const char* name, const std::vector<double>& values, std::int64_t columns,
                  const char* description) const {
        file_.write(message("Group/", std::string_view(name)),
                    {hdf5::number_type(stored).stored, hdf5::number_type<double>().memory}, values.data(), groups_,
                    columns, description);
    }

private:
    const hdf5::OutputFile& file_;
    std::int64_t groups_;
};

// Whether the masses of the groups are numbers of members for want of any in the input.
bool counts_as_mass(const Catalogue& catalogue, const Snapshot& snapshot) {
    return !snapshot.masses && !snapshot.uniform_mass &&
           std::equal(catalogue.mass.begin(), catalogue.mass.end(), catalogue.count.begin(), catalogue.count.end(),
                      [](double mass, std::int64_t count) { return mass == static_cast<double>(count); });
}

void write_groups(const hdf5::OutputFile& file, const Catalogue& catalogue, const Snapshot& snapshot, bool is_sorted) {
    const hdf5::Group group = file.make_group("Group");
    file.set(group.get(), "NTask", std::int32_t{1});
    const GroupTable table(file, catalogue);
    const DType lengths = snapshot.positions.dtype();
    const DType speeds = snapshot.velocities ? snapshot.velocities->dtype() : lengths;
    const std::int64_t d = catalogue.dimension;
    table.write("GroupLen", narrowed(catalogue.count), 0, "members");
    table.write("MembersLenType", narrowed(catalogue.count_by_type), max_types, "members of each type");
    table.write("MembersOffset", catalogue.offset, 0, "place of the first member in /Members/Index");
    table.write("MembersOffsetType", member_offsets_by_type(catalogue), max_types,
                "place of the first member of each type in /Members/Index");
    if (is_sorted) {
        table.write("GroupLenType", narrowed(catalogue.count_by_type), max_types,
                    "members of each type, which are rows of PartTypeN of the sorted snapshot");
        table.write("GroupOffsetType", snapshot_offsets_by_type(catalogue), max_types,
                    "first row of the group within PartTypeN of the sorted snapshot");
    }
    const auto groups = static_cast<std::size_t>(catalogue.groups);
    table.write("GroupNsubs", std::vector<std::int32_t>(groups, 0), 0, "subhalos: none are sought");
    table.write("GroupFirstSub", std::vector<std::int32_t>(groups, -1), 0, "first subhalo: -1, none are sought");
    table.write("GroupMass", catalogue.mass, 0,
                counts_as_mass(catalogue, snapshot)
                    ? "number of members: the input names no masses, so each particle counts as mass 1; float64"
                    : "sum of the members' masses, in their units, float64");
    table.write("GroupMassType", catalogue.mass_by_type, max_types, "the same for each type");
    table.write_as(lengths, "GroupPos", catalogue.centre, d, "centre of mass, in the units and type of the positions");
    if (!catalogue.velocity.empty()) {
        table.write_as(speeds, "GroupVel", catalogue.velocity, d, "mass-weighted mean velocity");
        table.write_as(speeds, "GroupVelDisp", catalogue.velocity_dispersion, 0,
                       "velocity dispersion along one axis: sqrt(sum m |v - mean|^2 / (d M))");
    }
    table.write_as(lengths, "GroupInertiaRadius", catalogue.inertia_radius, 0,
                   "sqrt(sum m r^2 / M), r from the centre of mass");
    table.write_as(lengths, "GroupLargestRadius", catalogue.largest_radius, 0,
                   "distance of the farthest member from the centre of mass");
    table.write_as(lengths, "GroupLower", catalogue.lower, d, "lower bounds, as offsets from the centre of mass");
    table.write_as(lengths, "GroupUpper", catalogue.upper, d, "upper bounds, as offsets from the centre of mass");
    table.write("GroupWide", catalogue.wide, 0,
                "1 if the group is wider than half a period: its centre and radii are ambiguous");
}

void write_members(const hdf5::OutputFile& file, const Catalogue& catalogue, const Snapshot& snapshot) {
    const auto rows = static_cast<std::int64_t>(catalogue.members.size());
    const auto gathered = [&](const auto& column) {
        return [&](std::int64_t first, auto block) {
            std::transform(catalogue.members.begin() + first,
                           catalogue.members.begin() + first + static_cast<std::int64_t>(block.size()), block.begin(),
                           [&](std::int32_t member) { return column[static_cast<std::size_t>(member)]; });
        };
    };
    const hdf5::Group members = file.make_group("Members");
    file.write_blocks<std::int64_t>("Members/Index", rows,
                                    "row among all particles of the snapshot file, types ascending, from 0",
                                    gathered(snapshot.file_rows));
    if (!snapshot.ids.empty()) {
        const hdf5::Group ids = file.make_group("IDs");
        file.write_blocks<std::uint64_t>("IDs/ID", rows, "ids of the particles in /Members/Index",
                                         gathered(snapshot.ids));
    }
}

// Readers need the cosmology of every catalog. Where the input has none, the values are those that Gadget writes for a
// run without cosmology, and a text says which are not of the input.
void write_cosmology(const hdf5::OutputFile& file, hid_t header, const SnapshotHeader& input) {
    std::string missing;
    const auto set = [&](const char* name, std::optional<double> value, double without) {
        missing += value ? "" : (missing.empty() ? "" : ", ") + std::string(name);
        file.set(header, name, value.value_or(without));
    };
    const auto parameter = [&](const char* name) {
        const auto found = input.parameters.find(name);
        return found == input.parameters.end() ? std::nullopt : std::optional(found->second);
    };
    set("Redshift", input.redshift, 0);
    set("Omega0", parameter("Omega0"), 0);
    set("OmegaLambda", parameter("OmegaLambda"), 0);
    set("HubbleParam", parameter("HubbleParam"), 1);
    if (!missing.empty()) {
        file.set_text(header, "Cosmology", "not in the input, set as for a run without cosmology: " + missing);
    }
    for (const char* unit : {"UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"}) {
        if (const std::optional<double> value = parameter(unit)) {
            file.set(header, unit, *value);
        }
    }
}

void write_header(const hdf5::OutputFile& file, const Catalogue& catalogue, const Snapshot& snapshot, const Box& box,
                  const Provenance& provenance, const CatalogFileOptions& options) {
    const hdf5::Group group = file.make_group("Header");
    const hid_t header = group.get();
    const auto members = static_cast<std::int64_t>(catalogue.members.size());
    for (const char* suffix : {"_ThisFile", "_Total"}) {
        file.set(header, std::string("Ngroups") + suffix, catalogue.groups);
        file.set(header, std::string("Nsubhalos") + suffix, std::int64_t{0});
        file.set(header, std::string("Nsubgroups") + suffix, std::int64_t{0});
        file.set(header, std::string("Nids") + suffix, members);
    }
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    file.set(header, "NumFiles", std::int32_t{1});
    file.set(header, "Time", snapshot.header.time.value_or(unknown));
    write_cosmology(file, header, snapshot.header);
    file.set(header, "Dimension", std::int32_t{snapshot.header.dimension});

    std::vector<double> periods;
    periods.reserve(static_cast<std::size_t>(snapshot.header.dimension));
    for (int axis = 0; axis < snapshot.header.dimension; ++axis) {
        periods.push_back(box.period(axis));
    }
    if (std::adjacent_find(periods.begin(), periods.end(), std::not_equal_to<>()) == periods.end()) {
        file.set(header, "BoxSize", box.period(0));
    } else {
        file.set(header, "BoxSize", std::span<const double>(periods));
    }
    if (!options.sorted_snapshot.empty()) {
        file.set_text(header, "SortedSnapshot", options.sorted_snapshot);
    }
    if (counts_as_mass(catalogue, snapshot)) {
        file.set_text(header, "Masses", "none in the input: each particle counts as mass 1");
    }
    file.set_provenance(header, provenance);

    if (!snapshot.header.parameters.empty()) {
        const hdf5::Group parameters = file.make_group("Parameters");
        for (const auto& [name, value] : snapshot.header.parameters) {
            file.set(parameters.get(), name, value);
        }
    }
}

} // namespace

void write_catalogue_hdf5(const std::filesystem::path& path, const Catalogue& catalogue, const Snapshot& snapshot,
                          const Box& box, const Provenance& provenance, const CatalogFileOptions& options) {
    require_consistent(catalogue, snapshot);
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    write_header(file, catalogue, snapshot, box, provenance, options);
    write_groups(file, catalogue, snapshot, !options.sorted_snapshot.empty());
    const hdf5::Group subhalos = file.make_group("Subhalo");
    write_members(file, catalogue, snapshot);
    file.commit();
}

} // namespace kith::io
