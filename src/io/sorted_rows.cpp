// From members in group order to a permutation of each type (see sorted_rows.hpp).
#include "io/sorted_rows.hpp"

#include "io/memory.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <numeric>

namespace kith::io {

namespace {

constexpr std::int64_t unassigned = -1;

std::int64_t file_row_of(const Snapshot& snapshot, std::int64_t member) {
    const auto rows = std::ssize(snapshot.file_rows);
    if (member < 0 || member >= rows) {
        throw error(ErrorKind::invalid_argument, "a member of the catalog is row ", member, ", but the snapshot has ",
                    rows, " rows; pass the snapshot that was grouped");
    }
    return snapshot.file_rows[member];
}

std::int64_t members_of_type(const Catalog& catalog, std::size_t type) {
    if (catalog.count_by_type.size() != static_cast<std::size_t>(catalog.groups) * max_types) {
        throw error(ErrorKind::invalid_argument, "the catalog's count_by_type has ", catalog.count_by_type.size(),
                    " entries where ", catalog.groups, " x ", max_types, " were expected");
    }
    std::int64_t members = 0;
    for (std::size_t entry = type; entry < catalog.count_by_type.size(); entry += max_types) {
        members += catalog.count_by_type[entry];
    }
    return members;
}

} // namespace

std::vector<std::int64_t> sorted_rows(const Catalog& catalog, const Snapshot& snapshot, std::size_t type) {
    const auto& counts = snapshot.header.counts;
    const std::int64_t expected = members_of_type(catalog, type);
    const std::int64_t first =
        std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(type), std::int64_t{0});
    std::vector<std::int64_t> sorted = allocate<std::int64_t>(counts[type], 1, "the order of the sorted snapshot");
    std::fill(sorted.begin(), sorted.end(), unassigned);

    std::int64_t next = 0;
    for (std::int64_t i = 0; i < catalog.member_array.size(); ++i) {
        const std::int64_t member = catalog.member_array[i];
        const std::int64_t row = file_row_of(snapshot, member) - first;
        if (row < 0 || row >= counts[type]) {
            continue;
        }
        std::int64_t& target = sorted[row];
        if (target != unassigned) {
            throw error(ErrorKind::invalid_argument, "the catalog lists row ", member,
                        " of the snapshot twice; a row has one group at most");
        }
        target = next++;
    }
    if (next != expected) {
        throw error(ErrorKind::invalid_argument, "the catalog counts ", expected, " members of type ", type,
                    ", but lists ", next, "; pass the snapshot that was grouped");
    }
    for (std::int64_t& target : sorted) {
        target = target == unassigned ? next++ : target;
    }
    return sorted;
}

} // namespace kith::io
