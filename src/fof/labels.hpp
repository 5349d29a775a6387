// From roots to labels: groups numbered by decreasing size, ties by smallest member index.
#pragma once

#include <kith/fof.hpp>

#include "fof/union_find.hpp"
#include "support/context.hpp"

#include <cstdint>

namespace kith::detail {

/// Fills labels and sizes of the result. `original` is the input row of each position. The groups are used up: their
/// memory holds something else afterwards.
void number_groups(Context& context, const UnionFind& groups, std::span<const std::int32_t> original,
                   FofResult& result);

} // namespace kith::detail
