// Arithmetic of left-balanced complete trees in level order: node 0 is the root, the children of node i are 2 i + 1 and
// 2 i + 2, all levels are full but the last, which is filled from the left. So the shape follows from the number of
// nodes alone: every function here is a few shifts. Host and device.
//
// Source: I. Wald, "GPU-friendly, Parallel, and (Almost-)In-Place Construction of Left-Balanced k-d Trees" (2023),
// arXiv:2211.00120, sections 2 and 4. Trees have at most 2^31 - 1 nodes; sums that may be larger are 64-bit.
#pragma once

#include <kith/device/portable.hpp>

#include <bit>
#include <cstdint>

#define KITH_KDTREE_HD KITH_HOST_DEVICE
#define KITH_KDTREE_UNROLL KITH_UNROLL

namespace kith::kdtree {

/// A node, by its position in level order, or a number of nodes. Unsigned, so that the children of every node have a
/// number, also where the tree has no such nodes.
using Node = std::uint32_t;

inline constexpr Node max_nodes = 0x7FFFFFFF;
inline constexpr int max_levels = 31;

KITH_KDTREE_HD constexpr Node left_child(Node node) {
    return 2 * node + 1;
}
KITH_KDTREE_HD constexpr Node right_child(Node node) {
    return 2 * node + 2;
}
/// Of any node but the root.
KITH_KDTREE_HD constexpr Node parent_of(Node node) {
    return (node - 1) / 2;
}
/// The root's level is 0.
KITH_KDTREE_HD constexpr int level_of(Node node) {
#if defined(__CUDA_ARCH__)
    return 31 - __clz(static_cast<int>(node + 1));
#else
    return static_cast<int>(std::bit_width(node + 1)) - 1;
#endif
}
/// The first node of a level; also the number of nodes of all levels above.
KITH_KDTREE_HD constexpr Node first_of_level(int level) {
    return (Node{1} << level) - 1;
}
/// Levels of a tree of `count` nodes.
KITH_KDTREE_HD constexpr int levels_of(Node count) {
    return count == 0 ? 0 : level_of(count - 1) + 1;
}

/// Nodes in the subtree under a node, itself included; 0 where there is no such node.
KITH_KDTREE_HD constexpr Node subtree_size(Node node, Node count) {
    const int below = levels_of(count) - 1 - level_of(node); // levels under that of the node
    if (below < 0) {
        return 0;
    }
    const std::uint64_t full = std::uint64_t{1} << below; // nodes of the lowest level, if it is full
    const std::uint64_t first = ((std::uint64_t{node} + 1) << below) - 1;
    const std::uint64_t lowest = first >= count ? 0 : (count - first < full ? count - first : full);
    return static_cast<Node>(full - 1 + lowest);
}

/// Where the points of a subtree begin when the points of all nodes above its level come first, in order, and then, one
/// after the other, those of the subtrees of its level: "segment begin" of the paper.
KITH_KDTREE_HD constexpr Node segment_begin(Node node, Node count) {
    const int level = level_of(node);
    const int below = levels_of(count) - 1 - level;
    const std::uint64_t before = node - first_of_level(level); // subtrees of this level
    const std::uint64_t full = std::uint64_t{1} << below;
    const std::uint64_t all_lowest = count - first_of_level(level + below);
    const std::uint64_t lowest = before * full < all_lowest ? before * full : all_lowest;
    return static_cast<Node>(first_of_level(level) + before * (full - 1) + lowest);
}

/// Where in that order, sorted along the split axis, the point of the node itself is.
KITH_KDTREE_HD constexpr Node pivot_position(Node node, Node count) {
    return segment_begin(node, count) + subtree_size(left_child(node), count);
}

/// The node at a position of the in-order sequence: left subtree, node, right subtree.
KITH_KDTREE_HD constexpr Node node_in_order(Node position, Node count) {
    const int levels = levels_of(count);
    const std::uint64_t lowest = count - first_of_level(levels - 1); // nodes of the lowest level
    // The same sequence of the tree whose lowest level is full: leaves at even positions, some of which are missing.
    const std::uint64_t full = position < 2 * lowest ? position : 2 * (position - lowest) + 1;
    const auto rank = static_cast<Node>(full + 1);
    const int above = level_of((rank & (~rank + 1)) - 1); // of the leaves
    return first_of_level(levels - 1 - above) + (rank >> above >> 1);
}

} // namespace kith::kdtree
