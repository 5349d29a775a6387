// Rows of columns of other ranks within a call over ranks: what kith::gather() does (gather.cpp).
#pragma once

#include <kith/distributed.hpp>

#include "distributed/given_ids.hpp"
#include "distributed/ranks.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

/// Collective. Of one or more columns of this rank's points as they were passed, the rows of the points with these
/// numbers. All ranks pass as many columns, of the same widths.
void gather_rows(Ranks& ranks, const GivenIds& ids, std::span<const std::int64_t> numbers,
                 std::span<const GatherColumn> columns);

} // namespace kith::detail
