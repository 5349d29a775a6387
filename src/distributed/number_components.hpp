// Labels of components of all ranks: by decreasing size, ties by the smallest global index (docs/semantics.md, "Friends
// of friends"), or by the smallest global index alone ("DBSCAN"), as if all sizes were equal.
//
// No rank sees all groups. A group is counted by the rank that owns its smallest index; each rank tells the others how
// many groups of each size it counts. The label of a group is then the number of larger groups, plus those of its size
// on lower ranks, whose indices are smaller, plus those of its size here with smaller indices. Different sizes are few:
// N points have less than the root of 2 N of them. If points have ids of their own, which need not ascend with ranks,
// all groups are sorted by size and smallest id instead (sorted_keys.hpp).
#pragma once

#include <kith/group_sizes.hpp>

#include "distributed/linked_points.hpp"
#include "distributed/point_numbers.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

enum class ComponentOrder : std::uint8_t { size, smallest_index };

/// Collective. Fills the labels of this rank's points, -1 for points that are not linked, and returns the sizes of the
/// components of all ranks; in the order of the smallest index, it counts 1 for each.
GroupSizes number_components(Ranks& ranks, Context& context, const Ownership& ownership, const PointNumbers& numbers,
                             const LinkedPoints& linked, ComponentOrder order, std::span<std::int64_t> labels);

} // namespace kith::detail
