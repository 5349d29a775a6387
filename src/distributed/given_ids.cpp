#include "distributed/given_ids.hpp"

#include "distributed/sorted_keys.hpp"
#include "support/message.hpp"

#include <algorithm>

namespace kith::detail {

namespace {

/// Two points with one id, of ranks that need not differ.
struct Duplicate {
    std::int64_t is_found = 0;
    std::int64_t id = 0;
    std::int64_t first_rank = 0;
    std::int64_t second_rank = 0;
};

struct IdRange {
    std::int64_t count;
    std::int64_t least;
    std::int64_t greatest;
};

bool overlap(std::vector<IdRange> ranges) {
    std::erase_if(ranges, [](const IdRange& range) { return range.count == 0; });
    std::ranges::sort(ranges, {}, &IdRange::least);
    for (std::size_t i = 1; i < ranges.size(); ++i) {
        if (ranges[i].least <= ranges[i - 1].greatest) {
            return true;
        }
    }
    return false;
}

} // namespace

GivenIds::GivenIds(Ranks& ranks, const IntegersView& ids, std::int64_t count)
    : given_(ids.as_span<std::int64_t>()), are_given_(ranks.any(!ids.empty())) {
    if (!are_given_) {
        return;
    }
    ranks.agreed([&] {
        if (ids.count() != count) {
            throw error(ErrorKind::invalid_argument, "ids: there are ", ids.count(), " for ", count,
                        " points; give every point one, on all ranks, or none on any");
        }
        if (given_.empty()) {
            converted_.resize(static_cast<std::size_t>(count));
            for (std::int64_t row = 0; row < count; ++row) {
                converted_[static_cast<std::size_t>(row)] = ids[row];
            }
            given_ = converted_;
        }
        if (const auto negative = std::ranges::find_if(given_, [](std::int64_t id) { return id < 0; });
            negative != given_.end()) {
            const std::int64_t row = negative - given_.begin();
            if (!ids.is_signed()) {
                const auto id = static_cast<std::uint64_t>(*negative);
                throw error(ErrorKind::invalid_argument, {.point = row, .value = static_cast<double>(id)}, "ids: row ",
                            row, " has ", id, "; ids are at most 2^63 - 1");
            }
            throw error(ErrorKind::invalid_argument, {.point = row, .value = static_cast<double>(*negative)},
                        "ids: row ", row, " has ", *negative,
                        "; ids are 0 or more, since -1 stands for a missing neighbor");
        }
        find_order();
    });
    require_unique(ranks);
}

void GivenIds::find_order() {
    if (!std::ranges::is_sorted(given_)) {
        order_ = order_of(given_);
        sorted_ = rows_in_order<std::int64_t>(given_, 1, order_);
    }
}

void GivenIds::require_unique(Ranks& ranks) const {
    const std::span<const std::int64_t> ids = order_.empty() ? given_ : std::span<const std::int64_t>(sorted_);
    Duplicate mine;
    if (const auto same = std::ranges::adjacent_find(ids); same != ids.end()) {
        mine = {1, *same, ranks.rank(), ranks.rank()};
    }
    const IdRange range = ids.empty() ? IdRange{} : IdRange{std::ssize(ids), ids.front(), ids.back()};
    if (overlap(ranks.gather(range))) {
        const SortedKeys<std::int64_t> sorted(ranks, {ids.begin(), ids.end()});
        const auto same = std::ranges::adjacent_find(sorted.entries(), {}, [](const auto& entry) { return entry.key; });
        if (same != sorted.entries().end()) {
            mine = {1, same->key, same->rank, (same + 1)->rank};
        }
    }
    const std::vector<Duplicate> found = ranks.gather(mine);
    Ranks::alike([&] {
        for (const Duplicate& duplicate : found) {
            if (duplicate.is_found != 0) {
                throw error(
                    ErrorKind::invalid_argument,
                    {.value = static_cast<double>(duplicate.id), .rank = static_cast<int>(duplicate.second_rank)},
                    duplicate.first_rank == duplicate.second_rank
                        ? message("ids: two points of rank ", duplicate.first_rank, " have the id ", duplicate.id,
                                  "; ids must be unique")
                        : message("ids: a point of rank ", duplicate.first_rank, " and one of rank ",
                                  duplicate.second_rank, " have the id ", duplicate.id,
                                  "; ids must be unique over all ranks"));
            }
        }
    });
}

} // namespace kith::detail
