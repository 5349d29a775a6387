// Linking friends by range queries in a k-d tree, as its callers see it. The kernels are in link_cpu.ipp, compiled for
// each instruction set and chosen at run time.
#pragma once

#include "engines/kdtree/bucket_tree.hpp"
#include "groups/link.hpp"

#include <cstdint>

namespace kith::detail {

/// Nodes are those of the tree; the arrays have one element for each of them.
template <Coordinate T>
struct RangeQueryJob {
    const BucketTree<T>* tree;
    LinkJob<T> links;    ///< of points in any order
    T* lower_corners;    ///< of the tight boxes of the nodes in all axes of the points, axis after axis; with room for
    T* upper_corners;    ///< a vector more
    std::int64_t stride; ///< between axes
    std::uint8_t* whole; ///< 1 once all points of the node are known to be one group; only ever set
};

/// Starts the groups of the points below a node by the links within each leaf, and fills the arrays for all nodes
/// there. No other thread is at these points.
void start_groups(const RangeQueryJob<float>& job, kdtree::Node node);
void start_groups(const RangeQueryJob<double>& job, kdtree::Node node);

/// Fills the arrays for a node whose children have been filled.
void join_children(const RangeQueryJob<float>& job, kdtree::Node node);
void join_children(const RangeQueryJob<double>& job, kdtree::Node node);

/// Links every point below a node with its friends among those of earlier leaves.
void query_earlier(const RangeQueryJob<float>& job, kdtree::Node node);
void query_earlier(const RangeQueryJob<double>& job, kdtree::Node node);

} // namespace kith::detail
