// Values of the columns of a file of halos, from Halos and from the catalog of the same groups.
#include "io/halo_columns.hpp"

#include "io/refuse.hpp"

#include <kith/error.hpp>
#include <kith/snapshot_universe.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace kith::io {

namespace {

constexpr std::int64_t axes = 3;

ColumnType length_type(const Snapshot& snapshot) {
    return snapshot.positions.dtype() == DType::float32 ? ColumnType::float32 : ColumnType::float64;
}

double mass_of(const Snapshot& snapshot, std::int64_t row) {
    return snapshot.masses
               ? std::visit([&](const auto& all) { return static_cast<double>(all[row]); }, snapshot.masses->values)
               : snapshot.uniform_mass.value_or(1);
}

/// Of the potential minimum; without a halo, the center of mass.
std::vector<double> centers_of_groups(const Halos& halos, const Catalog& groups) {
    std::vector<double> centers = groups.center;
    for (std::int64_t group = 0; group < halos.groups; ++group) {
        if (const std::int64_t halo = halos.first_of_group[group]; halo >= 0) {
            std::copy_n(halos.center.begin() + axes * halo, axes, centers.begin() + axes * group);
        }
    }
    return centers;
}

std::vector<std::int64_t> halos_of_groups(const Halos& halos) {
    std::vector<std::int64_t> counts(halos.groups);
    for (const std::int64_t group : halos.group) {
        ++counts[group];
    }
    return counts;
}

std::vector<double> spheres_of_groups(const Halos& halos, const std::vector<double>& of_halos,
                                      std::size_t overdensity) {
    const std::size_t width = halos.options.overdensities.size();
    std::vector<double> values(halos.groups);
    for (std::int64_t group = 0; group < halos.groups; ++group) {
        if (const std::int64_t halo = halos.first_of_group[group]; halo >= 0) {
            values[group] = of_halos[halo * width + overdensity];
        }
    }
    return values;
}

std::vector<std::int64_t> counts_by_type(const Halos& halos, const Snapshot& snapshot) {
    constexpr std::size_t without_types = 1;
    std::vector<std::int64_t> counts(halos.halos * max_types);
    for (std::int64_t halo = 0; halo < halos.halos; ++halo) {
        for (std::int64_t i = 0; i < halos.count[halo]; ++i) {
            const std::int32_t row = halos.members[halos.offset[halo] + i];
            ++counts[halo * max_types + (snapshot.types.empty() ? without_types : snapshot.types[row])];
        }
    }
    return counts;
}

/// Means by mass; of members without any mass, means of all alike.
std::vector<double> mean_velocities(const Halos& halos, const Snapshot& snapshot) {
    const double factor = universe_of(snapshot.header).velocity_factor;
    std::vector<double> means(axes * halos.halos);
    std::visit(
        [&](const auto& velocities) {
            for (std::int64_t halo = 0; halo < halos.halos; ++halo) {
                double total = 0;
                std::array<double, axes> sum{};
                for (std::int64_t i = 0; i < halos.count[halo]; ++i) {
                    const std::int64_t row = halos.members[halos.offset[halo] + i];
                    const double mass = halos.mass[halo] > 0 ? mass_of(snapshot, row) : 1;
                    total += mass;
                    for (std::int64_t axis = 0; axis < axes; ++axis) {
                        sum[axis] += mass * static_cast<double>(velocities[axes * row + axis]);
                    }
                }
                std::transform(sum.begin(), sum.end(), means.begin() + axes * halo,
                               [&](double of_axis) { return factor * of_axis / total; });
            }
        },
        snapshot.velocities->values);
    return means;
}

ColumnValues most_bound_ids(const Halos& halos, const Snapshot& snapshot) {
    std::vector<std::int64_t> ids(halos.halos);
    std::transform(halos.offset.begin(), halos.offset.end(), ids.begin(),
                   [&](std::int64_t first) { return static_cast<std::int64_t>(snapshot.ids[halos.members[first]]); });
    return ids;
}

std::vector<std::int64_t> most_bound_rows(const Halos& halos, const Snapshot& snapshot) {
    std::vector<std::int64_t> rows(halos.halos);
    std::transform(halos.offset.begin(), halos.offset.end(), rows.begin(),
                   [&](std::int64_t first) { return snapshot.file_rows[halos.members[first]]; });
    return rows;
}

std::string text_of(const Overdensity& overdensity) {
    switch (overdensity.reference) {
    case DensityReference::critical:
        return message(overdensity.factor, " times the critical density");
    case DensityReference::matter:
        return message(overdensity.factor, " times the mean density of matter");
    default:
        return message(overdensity.factor == 1 ? "" : message(overdensity.factor, " times "),
                       "the density of virialized spheres (Bryan and Norman 1998)");
    }
}

std::string text_of_spheres(const HaloOptions& options) {
    return message(options.outermost ? "last" : "first", " crossing about GroupPos, of ",
                   options.bound_only ? "the bound members" : "all particles", "; 0 if there is none");
}

} // namespace

std::string short_name(const Overdensity& overdensity) {
    if (overdensity == overdensities::virial) {
        return "vir";
    }
    return message(overdensity.factor, overdensity.reference == DensityReference::critical ? "c"
                                       : overdensity.reference == DensityReference::matter ? "m"
                                                                                           : "vir");
}

std::string column_name(const Overdensity& overdensity) {
    if (overdensity == overdensities::virial) {
        return "TopHat200"; // as the convention calls it, whatever its factor
    }
    return message(overdensity.reference == DensityReference::critical ? "Crit"
                   : overdensity.reference == DensityReference::matter ? "Mean"
                                                                       : "TopHat",
                   overdensity.factor);
}

void order_members(Catalog& groups, const Halos& halos, const Snapshot& snapshot) {
    if (groups.groups != halos.groups || groups.member_array.size() != std::ssize(halos.members)) {
        throw error(ErrorKind::invalid_argument, "the catalog has ", groups.groups, " groups of ",
                    groups.member_array.size(), " members, but the halos are of ", halos.groups, " groups of ",
                    halos.members.size(), "; pass the catalog of the same groups");
    }
    std::vector<std::int32_t> members = halos.members;
    if (!snapshot.types.empty()) {
        for (std::int64_t group = 0; group < halos.groups; ++group) {
            std::stable_sort(members.begin() + halos.group_offset[group],
                             members.begin() + halos.group_offset[group + 1],
                             [&](std::int32_t a, std::int32_t b) { return snapshot.types[a] < snapshot.types[b]; });
        }
    }
    groups.member_array = std::move(members);
}

std::string unit_of(const HaloColumn& column) {
    constexpr std::array<const char*, 4> names = {"none", "code mass", "code length", "code velocity"};
    return names[static_cast<std::size_t>(column.unit)];
}

std::optional<Scaling> scaling_of(const HaloColumn& column, const Frame& frame) {
    switch (column.unit) {
    case HaloUnit::mass:
        return frame.mass;
    case HaloUnit::length:
        return frame.length;
    case HaloUnit::peculiar_velocity:
        return Scaling{0, frame.velocity.h_power, frame.velocity.to_cgs};
    default:
        return std::nullopt;
    }
}

bool is_of_halos(std::string_view catalog_column) {
    return catalog_column == "GroupPos" || catalog_column == "GroupNsubs" || catalog_column == "GroupFirstSub";
}

std::vector<HaloColumn> group_columns(const Halos& halos, const CatalogSource& source) {
    const ColumnType real = length_type(source.snapshot);
    std::vector<HaloColumn> columns = {
        {"GroupPos", "", HaloUnit::length, real, axes,
         "position of the member of lowest potential; of a group without a halo, its center of mass",
         centers_of_groups(halos, source.catalog)},
        {"GroupCM", "", HaloUnit::length, real, axes, "center of mass of all members, inside the box",
         source.catalog.center},
        {"GroupNsubs", "", HaloUnit::none, ColumnType::int32, 0, "bound halos", halos_of_groups(halos)},
        {"GroupFirstSub", "", HaloUnit::none, ColumnType::int32, 0, "row of the first in /Subhalo; -1: none",
         halos.first_of_group},
    };
    const std::string how = text_of_spheres(halos.options);
    for (std::size_t i = 0; i < halos.options.overdensities.size(); ++i) {
        const Overdensity& overdensity = halos.options.overdensities[i];
        const std::string name = column_name(overdensity);
        columns.push_back({"Group_R_" + name, "", HaloUnit::length, real, 0,
                           message("radius of the sphere of ", text_of(overdensity), ": ", how),
                           spheres_of_groups(halos, halos.sphere_radius, i)});
        columns.push_back({"Group_M_" + name, "", HaloUnit::mass, ColumnType::float64, 0,
                           message("mass of the sphere of ", text_of(overdensity), ": ", how),
                           spheres_of_groups(halos, halos.sphere_mass, i)});
    }
    return columns;
}

std::vector<HaloColumn> subhalo_columns(const Halos& halos, const CatalogSource& source,
                                        const HaloFileOptions& options) {
    if (halos.halos == 0) {
        return {};
    }
    using enum ColumnType;
    const Snapshot& snapshot = source.snapshot;
    const ColumnType real = length_type(snapshot);
    const std::string circular = message("largest circular velocity, sqrt(G M(r)/(a r)), of ",
                                         halos.options.bound_only ? "the bound members" : "all particles", " about ",
                                         "SubhaloPos; r at least ", halos.options.least_radius.value_or(0));
    std::vector<HaloColumn> columns = {
        {"SubhaloLen", "", HaloUnit::none, int32, 0, "bound members", halos.count},
        {"SubhaloLenType", "", HaloUnit::none, int32, max_types, "bound members of each type",
         counts_by_type(halos, snapshot)},
        {"SubhaloGroupNr", "SubhaloGrNr", HaloUnit::none, int32, 0, "row of the group in /Group", halos.group},
        {"SubhaloParent", "", HaloUnit::none, int32, 0, "row of the halo of which this is a part; -1: none",
         halos.parent},
        {"SubhaloPos", "", HaloUnit::length, real, axes, "position of the member of lowest potential", halos.center},
        {"SubhaloCM", "", HaloUnit::length, real, axes, "center of mass of the bound members, inside the box",
         halos.center_of_mass},
        {"SubhaloCMOffset", "", HaloUnit::length, real, 0, "distance of SubhaloCM from SubhaloPos",
         halos.center_offset},
        {"SubhaloMass", "", HaloUnit::mass, float64, 0, "sum of the bound members' masses", halos.mass},
        {"SubhaloUnboundFraction", "", HaloUnit::none, real, 0, "of the group's mass", halos.unbound_fraction},
        {"SubhaloHalfmassRad", "", HaloUnit::length, real, 0,
         "radius about SubhaloPos that holds half of the bound members' mass", halos.half_mass_radius},
        {"SubhaloVmaxRad", "", HaloUnit::length, real, 0, "radius of the " + circular, halos.max_velocity_radius},
        {"SubhaloIsWide", "", HaloUnit::none, uint8, 0,
         "1 if bound members or spheres reach over more than half a period", halos.is_wide},
        {"SubhaloIsBridge", "", HaloUnit::none, uint8, 0,
         "1 if the bound members have less than half of the group's mass", halos.is_bridge},
        {"SubhaloRowMostbound", "", HaloUnit::none, int64, 0,
         "row of the most bound member among all particles of the snapshot file", most_bound_rows(halos, snapshot)},
    };
    if (options.circular_velocities) {
        columns.push_back({"SubhaloVmax", "", HaloUnit::peculiar_velocity, real, 0, circular, halos.max_velocity});
    }
    if (snapshot.velocities) {
        columns.push_back({"SubhaloVel", "", HaloUnit::peculiar_velocity, real, axes,
                           "mean peculiar velocity of the bound members by mass", mean_velocities(halos, snapshot)});
    }
    if (!snapshot.ids.empty()) {
        columns.push_back({"SubhaloIDMostbound", "", HaloUnit::none, int64, 0, "id of the most bound member",
                           most_bound_ids(halos, snapshot)});
    }
    return columns;
}

} // namespace kith::io
