// Unresolved rows (neighbors/unresolved.hpp) of all ranks.
#pragma once

#include <kith/neighbor_row.hpp>

#include "distributed/shared_frame.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail {

/// Collective. `found` are this rank's, with the number of the first query.
template <Coordinate T>
UnresolvedRows unresolved_of_all(Ranks& ranks, const SharedPoints<T>& shared, const UnresolvedRows& found) {
    const std::int64_t total = ranks.sum(found.rows);
    const std::int64_t first = ranks.min(found.rows > 0 ? found.first_query : std::numeric_limits<std::int64_t>::max());
    if (total == 0) {
        return {};
    }
    const LargestCoordinate largest = largest_of_all(ranks, shared);
    return {total, first, largest.point, largest.axis, largest.value, dtype_of<T>};
}

} // namespace kith::detail
