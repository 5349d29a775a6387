// Where the values of a catalog file's columns come from: members of Catalog as they are, and those derived here.
#include "io/catalog_columns.hpp"

#include "io/refuse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kith::io {

namespace {

// Where the members of each type begin in /Members/Index.
ColumnValues member_offsets_by_type(const CatalogSource& source) {
    const Catalog& catalog = source.catalog;
    std::vector<std::int64_t> offsets(catalog.count_by_type.size());
    for (std::int64_t group = 0; group < catalog.groups; ++group) {
        const auto first = catalog.count_by_type.begin() + group * max_types;
        std::exclusive_scan(first, first + max_types, offsets.begin() + group * max_types, catalog.offset[group]);
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
    return std::vector<std::int64_t>(source.catalog.groups, Value);
}

constexpr DerivedColumns<CatalogSource, 6> derived_columns{{
    {"GroupNsubs", always<0>},
    {"GroupFirstSub", always<-1>},
    {"MembersOffsetType", member_offsets_by_type},
    {"GroupLenType", [](const CatalogSource& source) -> ColumnValues { return source.catalog.count_by_type; }},
    {"GroupOffsetType", snapshot_offsets_by_type},
    {"GroupVel", catalog_velocities},
}};
static_assert(derived_columns.complete(catalog_columns));

std::optional<double> product(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a * *b) : std::nullopt;
}

bool is_without_expansion(const Frame& frame) {
    return frame.scale_factor == 1 && frame.length.a_power == 0 && frame.velocity.a_power == 0;
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

} // namespace

std::string_view unit_of(ColumnKind kind) {
    switch (kind) {
    case ColumnKind::mass:
        return "code mass";
    case ColumnKind::length:
        return "code length";
    case ColumnKind::velocity:
    case ColumnKind::catalog_velocity:
    case ColumnKind::peculiar_velocity:
        return "code velocity";
    case ColumnKind::angular_momentum:
        return "code length code velocity";
    default:
        return "none";
    }
}

std::optional<Scaling> scaling_of(ColumnKind kind, const Frame& frame) {
    switch (kind) {
    case ColumnKind::mass:
        return frame.mass;
    case ColumnKind::length:
        return frame.length;
    case ColumnKind::velocity:
        return frame.velocity;
    case ColumnKind::catalog_velocity: // without expansion it is the velocity itself
        return Scaling{is_without_expansion(frame) ? 0.0 : -1.0, frame.velocity.h_power, frame.velocity.to_cgs};
    case ColumnKind::peculiar_velocity:
        return Scaling{0, frame.velocity.h_power, frame.velocity.to_cgs};
    case ColumnKind::angular_momentum:
        return Scaling{0, frame.length.h_power + frame.velocity.h_power,
                       product(frame.length.to_cgs, frame.velocity.to_cgs)};
    default:
        return std::nullopt;
    }
}

std::string_view frame_of(ColumnKind kind, const std::optional<Frame>& frame) {
    if (unit_of(kind) == "none") {
        return "none";
    }
    if (!frame) {
        return "as in the input";
    }
    return scaling_of(kind, *frame)->a_power == 0 ? "physical" : "comoving";
}

std::vector<FileColumn> columns_of(const CatalogSource& source) {
    std::vector<FileColumn> columns;
    for (const CatalogColumn& column : catalog_columns) {
        if (is_present(column, source)) {
            columns.push_back(
                {std::string(column.name), column.shape, column.kind, type_of(column.type, source.snapshot),
                 column.width(source.catalog.dimension), description_of(column.description, column.kind, source),
                 column.in_table(),
                 [&column, &source] { return derived_columns.values_of(column, source.catalog, source); }});
        }
    }
    return columns;
}

ColumnType type_of(ColumnType type, const Snapshot& snapshot) {
    if (type != ColumnType::as_positions && type != ColumnType::as_velocities) {
        return type;
    }
    const bool as_velocities = type == ColumnType::as_velocities && snapshot.velocities;
    const DType dtype = (as_velocities ? *snapshot.velocities : snapshot.positions).dtype();
    return dtype == DType::float32 ? ColumnType::float32 : ColumnType::float64;
}

bool counts_as_mass(const CatalogSource& source) {
    const Catalog& catalog = source.catalog;
    return !source.snapshot.masses && !source.snapshot.uniform_mass &&
           std::equal(catalog.mass.begin(), catalog.mass.end(), catalog.count.begin(), catalog.count.end(),
                      [](double mass, std::int64_t count) { return mass == static_cast<double>(count); });
}

std::string description_of(std::string_view description, ColumnKind kind, const CatalogSource& source) {
    return message(description, kind == ColumnKind::mass && counts_as_mass(source)
                                    ? "; the input has no masses: each particle counts as mass 1"
                                    : "");
}

} // namespace kith::io
