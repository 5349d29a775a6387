#include "halos/layout.hpp"

#include <kith/error.hpp>

#include "support/fill_vector.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <new>

namespace kith::detail::halos {

namespace {

/// What a Catalog has beside its columns.
struct WithoutColumns : CatalogSummary {
    IndexArray member_array;
    std::optional<Distribution> distribution;
    std::int64_t first_member;
};
constexpr auto fields = std::count_if(catalog_columns.begin(), catalog_columns.end(),
                                      [](const CatalogColumn& column) { return !column.field.empty(); });
static_assert(sizeof(Catalog) == sizeof(WithoutColumns) + fields * sizeof(std::vector<double>),
              "a member of Catalog has no row in catalog_columns, or a row no member");

/// Calls visit(values, size) for the members and every column.
template <class Visit>
void each_column(Catalog& catalog, std::int64_t members, bool velocities, const Visit& visit) {
    visit(catalog.member_array.vector<std::int32_t>(), members);
    for_each_field(catalog, [&](const CatalogColumn& column, auto& values) {
        visit(values, column.size(catalog.groups, catalog.dimension, velocities));
    });
}

} // namespace

std::int64_t members_of(const Catalog& catalog) {
    return catalog.groups == 0 ? 0 : catalog.offset.back() + catalog.count.back();
}

std::int64_t reserve_columns(Catalog& catalog, const GroupSizes& sizes, bool velocities) {
    catalog.groups = sizes.of_at_least(catalog.min_members);
    const std::int64_t members = sizes.members_of_first(catalog.groups);
    std::int64_t bytes = 0;
    try {
        each_column(catalog, members, velocities, [&](auto& values, std::int64_t size) {
            bytes += size * static_cast<std::int64_t>(sizeof(values[0]));
            values.reserve(size);
        });
    } catch (const std::bad_alloc&) {
        throw error(ErrorKind::out_of_memory, "out of memory: the catalog of ", catalog.groups, " groups with ",
                    members, " members needs more than ", bytes, " bytes; raise min_members");
    }
    fill_vector(catalog.offset, catalog.groups);
    fill_vector(catalog.count, catalog.groups);
    std::int64_t group = 0;
    std::int64_t offset = 0;
    for (const GroupsOfSize& run : sizes.runs()) {
        const std::int64_t groups = std::min(run.groups, catalog.groups - group);
        parallel_each(groups, 1 << 14, [&](std::int64_t i) {
            catalog.offset[group + i] = offset + i * run.size;
            catalog.count[group + i] = run.size;
        });
        group += groups;
        offset += groups * run.size;
    }
    return bytes;
}

void fill_columns(Catalog& catalog, bool velocities) {
    each_column(catalog, members_of(catalog), velocities, [](auto& values, std::int64_t size) {
        if (values.empty()) {
            fill_vector(values, size);
        }
    });
}

std::int64_t lay_out(Catalog& catalog, const GroupSizes& sizes, bool velocities) {
    const std::int64_t bytes = reserve_columns(catalog, sizes, velocities);
    fill_columns(catalog, velocities);
    return bytes;
}

} // namespace kith::detail::halos
