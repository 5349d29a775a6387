// From components of core points to clusters: numbered from 0 by their smallest core index.
#pragma once

#include <kith/dbscan.hpp>

#include "groups/union_find.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

/// Labels the core points, and all other input rows -1; fills the number of clusters and their sizes, so far of core
/// points alone. `original` is the input row of each position of a core point. Afterwards the memory of the components
/// holds each core point's cluster.
void number_clusters(Context& context, const UnionFind& components, std::span<const std::int32_t> original,
                     std::span<std::int32_t> labels, DbscanSummary& result);

} // namespace kith::detail
