// A k-d tree whose leaves hold several points: the spatial variant, which Engine::kdtree searches.
//
// The points lie leaf after leaf; every leaf but the last is full, so that it is a whole number of vectors and its
// points are found by its number alone. Nodes are those of a complete binary tree in level order (kdtree_layout.hpp):
// first the planes, one less than there are leaves, then the leaves. Left of a plane is what comes before the record
// that split it in the order (coordinate, original index), so that runs of coincident points are split by index. Every
// node has the smallest original index below it. Memory: a copy of the points and 13 bytes (float32) a leaf; while it
// is built, one record a point. Source: the spatial k-d trees of cudaKDTree (I. Wald); shape and axes as in
// kdtree_build.hpp.
#pragma once

#include <kith/device/kdtree.hpp>

#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"

#include <array>
#include <cstdint>

namespace kith::detail {

/// Points of a full leaf, unless a user wants another size: two or four vectors.
inline constexpr std::int64_t bucket_size = 32;
/// The longest vector of all instruction sets: sizes are multiples of it.
inline constexpr std::int64_t bucket_step = 16;

template <Coordinate T>
struct BucketTree {
    PointSet<T> points;                   ///< leaf after leaf
    std::int64_t leaf_size = bucket_size; ///< points of a full leaf
    std::int64_t leaves = 0;
    Buffer<T> planes;                     ///< of the nodes that are split, those before the first leaf
    Buffer<std::uint8_t> axes;            ///< that they split
    Buffer<std::int32_t> least_indices;   ///< of all nodes
    std::array<T, max_dimension> lower{}; ///< of all points
    std::array<T, max_dimension> upper{};
};

/// Which leaf a node is, counted along the points.
constexpr std::int64_t leaf_number(kdtree::Node node, std::int64_t leaves) {
    const auto nodes = static_cast<kdtree::Node>(2 * leaves - 1);
    const int level = kdtree::level_of(node);
    const std::int64_t in_level = node - kdtree::first_of_level(level);
    if (level == kdtree::levels_of(nodes) - 1) {
        return in_level;
    }
    // Above the lowest level: those there come first, two for each node that this level has split.
    const std::int64_t lowest = nodes - kdtree::first_of_level(level + 1);
    return in_level + lowest / 2;
}

/// A tree of one point or more. It splits only the first `axes` axes of its points, and fills only these coordinates.
/// Runs inside a stage of the context.
template <Coordinate T>
BucketTree<T> build_bucket_tree(Context& context, const UnsortedPoints<T>& given, int axes, std::int64_t leaf_size);

} // namespace kith::detail
