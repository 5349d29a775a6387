// The rule that chooses the split axis of each node of a k-d tree.
#pragma once

namespace kith::kdtree {

/// The axis that a node splits. The first of equally wide ones.
enum class Split {
    cyclic,     ///< its level modulo the dimension: needs no memory
    widest,     ///< the widest of its cell: the box of all points, clipped by the planes above
    widest_box, ///< the widest of the tight box of its points; takes longer to build
};

} // namespace kith::kdtree
