// The z-ordered plane tree as the stages see it: sorted points and planes of nodes, all structures of arrays.
//
// A plane partitions the sorted points into contiguous nodes. Plane 0 holds the leaves; the children of a node are
// contiguous on the plane below; all leaves are at the same depth. Every node knows its points, its tight bounding box
// and the smallest original index in it. Source: jz-tree paper, section II-C.
#pragma once

#include <kith/tree.hpp>

#include "points/phase_space.hpp"
#include "points/point_set.hpp"
#include "support/context.hpp"
#include "support/donated_memory.hpp"
#include "tree/view.hpp"

namespace kith::detail {

template <Coordinate T>
using Plane = PlaneArrays<T, Buffer>;

template <Coordinate T>
using PlaneTree = TreeArrays<T, PointSet<T>, Plane<T>>;

/// Points in any order as walks read them, without planes.
template <Coordinate T>
TreeView<T> without_planes(const PointSet<T>& points) {
    TreeView<T> view;
    view.points = points.view();
    view.period = points.frame.working_period;
    return view;
}

/// Orders and cuts; runs the stages "order" and "tree" of the context. What is spare is free again afterwards.
template <Coordinate T>
PlaneTree<T> build_plane_tree(Context& context, const NormalizedPoints<T>& points, const TreeShape& shape,
                              const DonatedMemory& spare = {});

/// The same over points of phase space: in the order of their positions, with boxes of all coordinates.
template <Coordinate T>
PlaneTree<T> build_plane_tree(Context& context, const PhaseSpacePoints<T>& points, const TreeShape& shape = {});

} // namespace kith::detail
