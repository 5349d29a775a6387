// What the nodes of planes know of what lies below them: children, boxes, smallest indices. Leaves have it from their
// points, coarser nodes from their children. Cost: one pass over each.
#pragma once

#include "support/context.hpp"
#include "tree/plane_tree.hpp"

namespace kith::detail {

/// Memory for the boxes and smallest indices of a plane's nodes.
template <Coordinate T>
void add_boxes(Context& context, Plane<T>& plane, int dimension);

/// Sets where the children of each node begin on the plane below.
template <Coordinate T>
void find_children(Context& context, Plane<T>& plane, const Plane<T>& below);

/// Boxes and smallest indices of the leaves.
template <Coordinate T>
void summarize_points(Plane<T>& plane, const PointSet<T>& points);

/// The same of nodes that know their children, on the plane below.
template <Coordinate T>
void summarize_nodes(Plane<T>& plane, const Plane<T>& below, int dimension);

} // namespace kith::detail
