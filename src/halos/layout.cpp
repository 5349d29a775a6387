#include "halos/layout.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/prefix_sums.hpp"
#include "support/zeros.hpp"

#include <algorithm>
#include <new>
#include <numeric>

namespace kith::detail::halos {

namespace {

/// What a Catalog has beside its columns.
struct WithoutColumns {
    std::int64_t groups;
    int dimension;
    std::int64_t min_members;
    std::vector<std::int32_t> members;
    StageReports stages;
};
constexpr auto fields = std::count_if(catalog_columns.begin(), catalog_columns.end(),
                                      [](const CatalogColumn& column) { return !column.field.empty(); });
static_assert(sizeof(Catalog) == sizeof(WithoutColumns) + fields * sizeof(std::vector<double>),
              "a member of Catalog has no row in catalog_columns, or a row no member");

/// Sizes one column after another and counts their bytes.
class ColumnAllocator {
public:
    template <class T>
    void operator()(std::vector<T>& column, std::int64_t size) {
        const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof(T));
        bytes_ += bytes;
        fill_zeros(column, size);
    }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    std::int64_t bytes_ = 0;
};

/// Makes room for every column and returns the bytes taken.
std::int64_t allocate_columns(Catalog& catalog, std::int64_t members, bool velocities) {
    const std::int64_t groups = catalog.groups;
    ColumnAllocator size;
    try {
        size(catalog.members, members);
        for_each_field(catalog, [&](const CatalogColumn& column, auto& values) {
            size(values, column.size(groups, catalog.dimension, velocities));
        });
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::out_of_memory,
                    message("out of memory: the catalog of ", groups, " groups with ", members,
                            " members needs more than ", size.bytes(), " bytes; raise min_members"));
    }
    return size.bytes();
}

} // namespace

std::int64_t groups_of_at_least(std::span<const std::int32_t> sizes, std::int64_t min_members) {
    return std::partition_point(sizes.begin(), sizes.end(), [&](std::int32_t size) { return size >= min_members; }) -
           sizes.begin();
}

std::int64_t lay_out(Catalog& catalog, std::span<const std::int32_t> sizes, bool velocities) {
    catalog.groups = groups_of_at_least(sizes, catalog.min_members);
    const std::int64_t members = parallel_reduce(
        0, catalog.groups, 1 << 14, std::int64_t{0},
        [&](std::int64_t begin, std::int64_t end, std::int64_t sum) {
            return std::accumulate(sizes.begin() + begin, sizes.begin() + end, sum);
        },
        [](std::int64_t left, std::int64_t right) { return left + right; });
    const std::int64_t bytes = allocate_columns(catalog, members, velocities);
    prefix_sums<std::int64_t>(
        catalog.groups, [&](std::int64_t group) { return sizes[group]; },
        [&](std::int64_t group, std::int64_t offset) {
            catalog.offset[group] = offset;
            catalog.count[group] = sizes[group];
        });
    return bytes;
}

} // namespace kith::detail::halos
