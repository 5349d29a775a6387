// Whether a catalog and its snapshot fit together, found out before a file is begun.
#include "io/catalog_columns.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace kith::io {

using detail::message;

namespace {

void require_rows(std::size_t found, std::int64_t expected, std::string_view what) {
    if (static_cast<std::int64_t>(found) != expected) {
        throw Error(ErrorKind::invalid_argument,
                    message("the catalogue's ", what, " has ", found, " entries where ", expected, " were expected"));
    }
}

} // namespace

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

} // namespace kith::io
