#include "halos/layout.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"
#include "support/pages.hpp"
#include "support/parallel.hpp"

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

/// Touches memory that was taken and holds nothing yet, page by page, by all threads. Otherwise the one thread that fills
/// a column with zeros waits for the system at every page: half a second for 80 million members where it was measured,
/// six times as long as so.
void touch(void* memory, std::int64_t bytes) {
    constexpr std::int64_t page = 4096;
    constexpr std::int64_t grain = 4 * large_page / page;
    wish_for_large_pages(memory, bytes);
    auto* const first = static_cast<volatile unsigned char*>(memory);
    parallel_for(0, bytes / page, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            first[i * page] = 0;
        }
    });
}

/// Sizes one column after another and counts their bytes.
class ColumnAllocator {
public:
    template <class T>
    void operator()(std::vector<T>& column, std::int64_t size) {
        const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof(T));
        bytes_ += bytes;
        column.reserve(static_cast<std::size_t>(size));
        if (bytes > large_page) {
            touch(column.data(), bytes);
        }
        column.resize(static_cast<std::size_t>(size));
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
    const auto kept = sizes.begin() + catalog.groups;
    const std::int64_t bytes =
        allocate_columns(catalog, std::accumulate(sizes.begin(), kept, std::int64_t{0}), velocities);
    std::int64_t offset = 0;
    for (std::int64_t group = 0; group < catalog.groups; ++group) {
        catalog.offset[group] = offset;
        catalog.count[group] = sizes[group];
        offset += sizes[group];
    }
    return bytes;
}

} // namespace kith::detail::halos
