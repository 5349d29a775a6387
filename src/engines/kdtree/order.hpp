// The order of a k-d tree of points in memory of the host (kdtree_order.hpp).
#pragma once

#include <kith/kdtree_order.hpp>

#include "support/context.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

/// Throws invalid_points. Runs the stage "tree" of the context.
template <Coordinate T>
void order_kd_tree(Context& context, const PointsView& points, kdtree::Split split, std::span<std::int32_t> indices,
                   std::span<std::uint8_t> split_axes, KdTreeSummary& result);

} // namespace kith::detail
