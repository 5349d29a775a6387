// From roots to labels: groups numbered by decreasing size, ties by smallest member index.
#pragma once

#include <kith/fof.hpp>

#include "groups/union_find.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

/// Fills the labels, one for each input row, and the groups and sizes of the result. `original` is the input row of
/// each position. The groups are used up: their memory holds something else afterwards.
void number_groups(Context& context, const UnionFind& groups, std::span<const std::int32_t> original,
                   std::span<std::int32_t> labels, FofSummary& result);

} // namespace kith::detail
