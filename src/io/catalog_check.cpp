// Whether a catalog and its snapshot fit together, found out before a file is begun.
#include "io/catalog_columns.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace kith::io {

namespace {

void require_rows(std::int64_t found, std::int64_t expected, std::string_view what) {
    if (found != expected) {
        throw error(ErrorKind::invalid_argument, "the catalog's ", what, " has ", found, " entries where ", expected,
                    " were expected");
    }
}

} // namespace

std::int64_t members_of(const Catalog& catalog) {
    return std::accumulate(catalog.count.begin(), catalog.count.end(), std::int64_t{0});
}

void require_columns(const Catalog& catalog) {
    if (catalog.distribution) {
        throw error(ErrorKind::invalid_argument, "the catalog is the part of one of ", catalog.distribution->ranks,
                    " ranks, and files hold that of one process; describe the groups in one process");
    }
    for_each_field(catalog, [&](const CatalogColumn& column, const auto& values) {
        require_rows(std::ssize(values), column.size(catalog.groups, catalog.dimension, !catalog.velocity.empty()),
                     column.field);
    });
    const auto large = std::find_if(catalog.count.begin(), catalog.count.end(), [](std::int64_t count) {
        return count > std::numeric_limits<std::int32_t>::max();
    });
    if (large != catalog.count.end() || members_of(catalog) > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ErrorKind::too_large, "a group of 2^31 members or more cannot be stored: GroupLen is 32 bits wide");
    }
}

void require_consistent(const Catalog& catalog, const Snapshot& snapshot) {
    require_columns(catalog);
    require_rows(catalog.member_array.size(), members_of(catalog), "members");
    const auto rows = std::ssize(snapshot.file_rows);
    catalog.member_array.visit([&](auto all) {
        const auto outside =
            std::find_if(all.begin(), all.end(), [&](auto member) { return member < 0 || member >= rows; });
        if (outside != all.end()) {
            throw error(ErrorKind::invalid_argument, "member ", outside - all.begin(), " of the catalog is row ",
                        *outside, ", but the snapshot has ", rows, " rows; pass the snapshot that was grouped");
        }
    });
    if (!snapshot.ids.empty() && std::ssize(snapshot.ids) != rows) {
        throw error(ErrorKind::invalid_argument, "the snapshot has ", snapshot.ids.size(), " ids for ", rows, " rows");
    }
}

} // namespace kith::io
