// The columns of a catalog file, and where their values come from. A new column is a new entry of `columns`.
#include "io/catalog_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace kith::io {

namespace {

struct SourcedColumn {
    CatalogColumn column;
    ColumnValues (*values)(const CatalogSource&);
};

// Where the members of each type begin in /Members/Index.
ColumnValues member_offsets_by_type(const CatalogSource& source) {
    const Catalog& catalog = source.catalog;
    std::vector<std::int64_t> offsets(catalog.count_by_type.size());
    for (std::int64_t group = 0; group < catalog.groups; ++group) {
        const auto first = catalog.count_by_type.begin() + group * max_types;
        std::exclusive_scan(first, first + max_types, offsets.begin() + group * max_types,
                            catalog.offset[static_cast<std::size_t>(group)]);
    }
    return offsets;
}

// Where they begin within PartTypeN of a snapshot in group order.
ColumnValues snapshot_offsets_by_type(const CatalogSource& source) {
    const std::vector<std::int64_t>& counts = source.catalog.count_by_type;
    std::vector<std::int64_t> offsets(counts.size());
    for (std::size_t i = max_types; i < offsets.size(); ++i) {
        offsets[i] = offsets[i - max_types] + counts[i - max_types];
    }
    return offsets;
}

// a times the peculiar velocity, or the mean as it is if the input's frame is unknown.
ColumnValues catalog_velocities(const CatalogSource& source) {
    std::vector<double> velocities = source.catalog.velocity;
    if (const std::optional<Frame>& frame = source.snapshot.header.frame) {
        const double a = frame->scale_factor;
        const double factor =
            a * (frame->velocity.a_power == 0.5 ? std::sqrt(a) : std::pow(a, frame->velocity.a_power));
        std::transform(velocities.begin(), velocities.end(), velocities.begin(),
                       [&](double velocity) { return factor * velocity; });
    }
    return velocities;
}

// The same number for every group.
template <int Value>
ColumnValues always(const CatalogSource& source) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(source.catalog.groups), Value);
}

// A member of Catalog as it is.
template <auto Member>
ColumnValues as_is(const CatalogSource& source) {
    return source.catalog.*Member;
}

constexpr std::array<SourcedColumn, 19> make_columns() {
    using S = ColumnShape;
    using K = ColumnKind;
    using T = ColumnType;
    using P = ColumnPresence;
    return {{
        {{"GroupLen", S::scalar, K::count, T::int32, P::always, true, "members"}, as_is<&Catalog::count>},
        {{"GroupNsubs", S::scalar, K::count, T::int32, P::always, false, "subhalos: 0, none are sought"}, always<0>},
        {{"GroupFirstSub", S::scalar, K::index, T::int32, P::always, false, "first subhalo: -1, none are sought"},
         always<-1>},
        {{"MembersLenType", S::by_type, K::count, T::int32, P::always, true, "members of each type"},
         as_is<&Catalog::count_by_type>},
        {{"MembersOffset", S::scalar, K::index, T::int64, P::always, false,
          "place of the first member in /Members/Index"},
         as_is<&Catalog::offset>},
        {{"MembersOffsetType", S::by_type, K::index, T::int64, P::always, false,
          "place of the first member of each type in /Members/Index"},
         member_offsets_by_type},
        {{"GroupLenType", S::by_type, K::count, T::int32, P::beside_sorted_snapshot, false,
          "members of each type, rows of PartTypeN"},
         as_is<&Catalog::count_by_type>},
        {{"GroupOffsetType", S::by_type, K::index, T::int64, P::beside_sorted_snapshot, false,
          "first row of the group within PartTypeN"},
         snapshot_offsets_by_type},
        {{"GroupMass", S::scalar, K::mass, T::float64, P::always, true, "sum of the members' masses"},
         as_is<&Catalog::mass>},
        {{"GroupMassType", S::by_type, K::mass, T::float64, P::always, true, "sum of the masses of each type"},
         as_is<&Catalog::mass_by_type>},
        {{"GroupPos", S::vector, K::length, T::as_positions, P::always, true, "center of mass, inside the box"},
         as_is<&Catalog::center>},
        {{"GroupVel", S::vector, K::catalog_velocity, T::as_velocities, P::with_velocities, true,
          "a times the mean peculiar velocity by mass; GroupVelStored where the frame of the input is unknown"},
         catalog_velocities},
        {{"GroupVelStored", S::vector, K::velocity, T::as_velocities, P::with_velocities, true,
          "mean by mass of the velocities as the input stores them"},
         as_is<&Catalog::velocity>},
        {{"GroupVelDisp", S::scalar, K::velocity, T::as_velocities, P::with_velocities, true,
          "sqrt(sum m dv^2 / (d M)), dv from the mean of the velocities as the input stores them, without Hubble flow"},
         as_is<&Catalog::velocity_dispersion>},
        {{"GroupRmsRadius", S::scalar, K::length, T::as_positions, P::always, true,
          "sqrt(sum m r^2 / M), r from the center of mass"},
         as_is<&Catalog::rms_radius>},
        {{"GroupMaxRadius", S::scalar, K::length, T::as_positions, P::always, true,
          "distance of the farthest member from the center of mass"},
         as_is<&Catalog::max_radius>},
        {{"GroupLower", S::vector, K::length, T::as_positions, P::always, true,
          "lower bounds, as offsets from the center of mass"},
         as_is<&Catalog::lower>},
        {{"GroupUpper", S::vector, K::length, T::as_positions, P::always, true,
          "upper bounds, as offsets from the center of mass"},
         as_is<&Catalog::upper>},
        {{"GroupIsAmbiguous", S::scalar, K::flag, T::uint8, P::always, true,
          "1 if the group is wider than half a period: its center and radii are ambiguous"},
         as_is<&Catalog::is_ambiguous>},
    }};
}

constexpr auto columns = make_columns();

} // namespace

std::span<const CatalogColumn> catalog_columns() {
    static const std::vector<CatalogColumn> listed = [] {
        std::vector<CatalogColumn> list;
        for (const SourcedColumn& each : columns) {
            list.push_back(each.column);
        }
        return list;
    }();
    return listed;
}

std::string_view unit_of(const CatalogColumn& column) {
    switch (column.kind) {
    case ColumnKind::mass:
        return "code mass";
    case ColumnKind::length:
        return "code length";
    case ColumnKind::velocity:
    case ColumnKind::catalog_velocity:
        return "code velocity";
    default:
        return "none";
    }
}

std::optional<Scaling> scaling_of(const CatalogColumn& column, const Frame& frame) {
    switch (column.kind) {
    case ColumnKind::mass:
        return frame.mass;
    case ColumnKind::length:
        return frame.length;
    case ColumnKind::velocity:
        return frame.velocity;
    case ColumnKind::catalog_velocity:
        return Scaling{-1, frame.velocity.h_power, frame.velocity.to_cgs};
    default:
        return std::nullopt;
    }
}

std::string_view frame_of(const CatalogColumn& column, const std::optional<Frame>& frame) {
    if (unit_of(column) == "none") {
        return "none";
    }
    if (!frame) {
        return "as in the input";
    }
    return scaling_of(column, *frame)->a_power == 0 ? "physical" : "comoving";
}

ColumnValues values_of(const CatalogColumn& column, const CatalogSource& source) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const SourcedColumn& each) { return each.column.name == column.name; });
    return found->values(source);
}

bool is_present(const CatalogColumn& column, const CatalogSource& source) {
    switch (column.presence) {
    case ColumnPresence::with_velocities:
        return !source.catalog.velocity.empty();
    case ColumnPresence::beside_sorted_snapshot:
        return source.is_sorted;
    default:
        return true;
    }
}

std::int64_t width_of(const CatalogColumn& column, const CatalogSource& source) {
    switch (column.shape) {
    case ColumnShape::vector:
        return source.catalog.dimension;
    case ColumnShape::by_type:
        return max_types;
    default:
        return 1;
    }
}

DType precision_of(const CatalogColumn& column, const CatalogSource& source) {
    const Snapshot& snapshot = source.snapshot;
    switch (column.type) {
    case ColumnType::as_positions:
        return snapshot.positions.dtype();
    case ColumnType::as_velocities:
        return snapshot.velocities ? snapshot.velocities->dtype() : snapshot.positions.dtype();
    default:
        return DType::float64;
    }
}

bool counts_as_mass(const CatalogSource& source) {
    const Catalog& catalog = source.catalog;
    return !source.snapshot.masses && !source.snapshot.uniform_mass &&
           std::equal(catalog.mass.begin(), catalog.mass.end(), catalog.count.begin(), catalog.count.end(),
                      [](double mass, std::int64_t count) { return mass == static_cast<double>(count); });
}

std::string description_of(const CatalogColumn& column, const CatalogSource& source) {
    std::string description(column.description);
    if (column.kind == ColumnKind::mass && counts_as_mass(source)) {
        description += "; the input has no masses: each particle counts as mass 1";
    }
    return description;
}

} // namespace kith::io
