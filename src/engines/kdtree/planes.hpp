// A k-d tree as planes of nodes, so that the pair walk links its points: friends-of-friends by k-d tree, one of the
// routes of the GPU halo-finding thesis (section 3.3.2).
//
// The leaves of the bucket tree are the finest plane; every third level of nodes above them is a coarser one, eight
// times as coarse. The walk asks for contiguous nodes, tight boxes and smallest indices, and does not know the curve.
// Cost: that of the bucket tree, and one pass over points and nodes.
#pragma once

#include "points/unsorted_points.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

namespace kith::detail {

/// Runs the stage "tree" of the context.
PlaneTree<float> build_kdtree_planes(Context& context, const UnsortedPoints<float>& points);
PlaneTree<double> build_kdtree_planes(Context& context, const UnsortedPoints<double>& points);

} // namespace kith::detail
