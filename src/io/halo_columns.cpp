// Where the values of the columns of a file of halos come from: members of Halos as they are, and those derived here
// from Halos, the catalog of the same groups and the snapshot.
#include "io/halo_columns.hpp"

#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace kith::io {

namespace {

constexpr std::int64_t axes = 3;

/// Of the potential minimum; without a halo, the center of mass.
ColumnValues centers_of_groups(const HaloSource& source) {
    const Halos& halos = source.halos;
    std::vector<double> centers = source.groups.catalog.center;
    for (std::int64_t group = 0; group < halos.groups; ++group) {
        if (const std::int64_t halo = halos.first_of_group[group]; halo >= 0) {
            std::copy_n(halos.center.begin() + axes * halo, axes, centers.begin() + axes * group);
        }
    }
    return centers;
}

ColumnValues halos_of_groups(const HaloSource& source) {
    std::vector<std::int64_t> counts(source.halos.groups);
    for (const std::int64_t group : source.halos.group) {
        ++counts[group];
    }
    return counts;
}

/// Numbers of the most bound member of each halo.
template <class T>
ColumnValues of_most_bound(const HaloSource& source, const std::vector<T>& numbers) {
    const Halos& halos = source.halos;
    std::vector<std::int64_t> values(halos.halos);
    std::transform(halos.offset.begin(), halos.offset.end(), values.begin(),
                   [&](std::int64_t first) { return static_cast<std::int64_t>(numbers[halos.member_array[first]]); });
    return values;
}

constexpr DerivedColumns<HaloSource, 7> derived_columns{{
    {"GroupPos", centers_of_groups},
    {"GroupCM", [](const HaloSource& source) -> ColumnValues { return source.groups.catalog.center; }},
    {"GroupNsubs", halos_of_groups},
    {"GroupFirstSub", [](const HaloSource& source) -> ColumnValues { return source.halos.first_of_group; }},
    {"SubhaloGrNr", [](const HaloSource& source) -> ColumnValues { return source.halos.group; }},
    {"SubhaloRowMostbound",
     [](const HaloSource& source) { return of_most_bound(source, source.groups.snapshot.file_rows); }},
    {"SubhaloIDMostbound", [](const HaloSource& source) { return of_most_bound(source, source.groups.snapshot.ids); }},
}};
static_assert(derived_columns.complete(halo_columns));

/// Of the halos, by one of the overdensities.
std::vector<double> spheres_of_halos(const HaloColumn& column, const HaloSource& source, std::size_t overdensity) {
    const std::vector<double>& all = source.halos.*std::get<std::vector<double> Halos::*>(column.values);
    const std::size_t width = source.halos.options.overdensities.size();
    std::vector<double> values(source.halos.halos);
    for (std::size_t halo = 0; halo < values.size(); ++halo) {
        values[halo] = all[halo * width + overdensity];
    }
    return values;
}

/// What a sphere has that there is not: 0, but no ratio.
double of_no_sphere(const HaloColumn& column) {
    return column.kind == ColumnKind::ratio ? std::numeric_limits<double>::quiet_NaN() : 0;
}

std::vector<double> first_of_groups(const std::vector<double>& of_halos, const Halos& halos, double otherwise) {
    std::vector<double> values(halos.groups);
    std::transform(halos.first_of_group.begin(), halos.first_of_group.end(), values.begin(),
                   [&](std::int64_t halo) { return halo >= 0 ? of_halos[halo] : otherwise; });
    return values;
}

std::string text_of(const Overdensity& overdensity) {
    switch (overdensity.reference) {
    case DensityReference::critical:
        return message(overdensity.factor, " times the critical one");
    case DensityReference::matter:
        return message(overdensity.factor, " times that of matter");
    default:
        return message(overdensity.factor == 1 ? "" : message(overdensity.factor, " times "),
                       "that of virialized spheres (Bryan and Norman 1998)");
    }
}

std::string text_of_particles(const HaloOptions& options) {
    return options.bound_only ? "of the bound members" : "of all particles";
}

std::string description_of(const HaloColumn& column, const HaloSource& source) {
    const HaloOptions& options = source.halos.options;
    const std::string text = description_of(column.description, column.kind, source.groups);
    return column.field == "max_velocity"
               ? message(text, ", ", text_of_particles(options), ", with r at least ", options.least_radius.value_or(0))
               : text;
}

FileColumn file_column(const HaloColumn& column, const HaloSource& source) {
    return {std::string(column.name),
            column.shape,
            column.kind,
            type_of(column.type, source.groups.snapshot),
            column.width(axes),
            description_of(column, source),
            column.in_table(),
            [&column, &source] { return derived_columns.values_of(column, source.halos, source); }};
}

/// One for each overdensity.
void add_spheres(const HaloColumn& column, const HaloSource& source, bool of_groups, std::vector<FileColumn>& columns) {
    const HaloOptions& options = source.halos.options;
    for (std::size_t i = 0; i < options.overdensities.size(); ++i) {
        const Overdensity& overdensity = options.overdensities[i];
        FileColumn sphere = file_column(column, source);
        sphere.name += column_name(overdensity);
        sphere.shape = ColumnShape::scalar;
        sphere.width = 1;
        sphere.description += message(": ", text_of(overdensity), "; ", options.outermost ? "last" : "first",
                                      " crossing, ", text_of_particles(options),
                                      column.kind == ColumnKind::ratio ? "; NaN if there is none, or unless 1 to 1000"
                                                                       : "; 0 if there is none");
        sphere.values = [&column, &source, i, of_groups]() -> ColumnValues {
            std::vector<double> values = spheres_of_halos(column, source, i);
            return of_groups ? first_of_groups(values, source.halos, of_no_sphere(column)) : std::move(values);
        };
        columns.push_back(std::move(sphere));
    }
}

bool is_of_groups(const HaloColumn& column) {
    return column.name.starts_with("Group");
}

bool is_present(const HaloColumn& column, const HaloSource& source) {
    const bool has_velocities =
        source.halos.halos == 0 ? source.groups.snapshot.velocities.has_value() : !source.halos.velocity.empty();
    switch (column.presence) {
    case ColumnPresence::with_velocities:
        return has_velocities;
    case ColumnPresence::with_gravity:
        return source.knows_gravity;
    case ColumnPresence::with_velocities_and_gravity:
        return source.knows_gravity && has_velocities;
    case ColumnPresence::with_ids:
        return !source.groups.snapshot.ids.empty();
    default:
        return column.presence != ColumnPresence::not_in_files;
    }
}

} // namespace

void order_members(Catalog& groups, const Halos& halos, const Snapshot& snapshot) {
    if (groups.groups != halos.groups || groups.member_array.size() != halos.member_array.size()) {
        throw error(ErrorKind::invalid_argument, "the catalog has ", groups.groups, " groups of ",
                    groups.member_array.size(), " members, but the halos are of ", halos.groups, " groups of ",
                    halos.member_array.size(), "; pass the catalog of the same groups");
    }
    groups.member_array = halos.member_array.visit([&]<class Index>(std::span<const Index> of_halos) -> IndexArray {
        std::vector<Index> members(of_halos.begin(), of_halos.end());
        for (std::int64_t group = 0; group < halos.groups && !snapshot.types.empty(); ++group) {
            std::stable_sort(members.begin() + halos.group_offset[group],
                             members.begin() + halos.group_offset[group + 1],
                             [&](Index a, Index b) { return snapshot.types[a] < snapshot.types[b]; });
        }
        return members;
    });
}

void require_consistent(const HaloSource& source) {
    const Catalog& groups = source.groups.catalog;
    if (groups.member_array.empty()) {
        require_columns(groups);
    } else {
        require_consistent(groups, source.groups.snapshot);
    }
    if (groups.groups != source.halos.groups || groups.dimension != axes) {
        throw error(ErrorKind::invalid_argument, "the catalog has ", groups.groups, " groups in ", groups.dimension,
                    " dimensions, but the halos are of ", source.halos.groups,
                    " in 3; pass the catalog of the same groups");
    }
}

std::vector<FileColumn> columns_of_groups(const HaloSource& source) {
    std::vector<FileColumn> columns = columns_of(source.groups);
    for (const HaloColumn& column : halo_columns) {
        if (!is_of_groups(column)) {
            continue;
        }
        std::erase_if(columns, [&](const FileColumn& own) { return own.name == column.name; });
        if (column.shape == ColumnShape::by_overdensity) {
            add_spheres(column, source, true, columns);
        } else {
            columns.push_back(file_column(column, source));
        }
    }
    return columns;
}

std::vector<FileColumn> columns_of_halos(const HaloSource& source) {
    std::vector<FileColumn> columns;
    for (const HaloColumn& column : halo_columns) {
        if (!is_of_groups(column) && is_present(column, source)) {
            columns.push_back(file_column(column, source));
        }
    }
    return columns;
}

std::vector<FileColumn> columns_of_halo_table(const HaloSource& source) {
    std::vector<FileColumn> columns = columns_of_halos(source);
    for (const HaloColumn& column : halo_columns) {
        if (column.shape == ColumnShape::by_overdensity) {
            add_spheres(column, source, false, columns);
        }
    }
    return columns;
}

} // namespace kith::io
