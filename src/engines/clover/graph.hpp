// Cells of points around random hubs, and the graph of those that are near each other.
//
// The cells partition the points, which lie cell after cell; cells that were split from one larger cell follow each
// other, and are a group. Both are planes of a tree (tree/plane_tree.hpp) with tight boxes: plane 0 the cells, plane 1
// the groups. Every bound holds for any partition and any hub: a cell need not be what is nearest to its hub, and edges
// are measured from a hub of their own, the center of the cell's box, because it is nearer to the farthest of its
// points. An edge from cell i to cell j weighs the distance from hub i to the nearest point of cell j. A cell has edges
// to the few cells whose boxes are nearest to its hub, in ascending order of weight, and a horizon, the least weight
// that an edge to any other cell might have. Source: CLOVER (ICS 2025), section 3; the levels of hubs and the horizon
// are ours.
#pragma once

#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

template <Coordinate T>
struct CellTree {
    PlaneTree<T> tree; ///< without smallest indices
    Buffer<T> hubs;    ///< of the cells, axis after axis, as far apart as the boxes' corners

    [[nodiscard]] const Plane<T>& cells() const noexcept { return tree.planes[0]; }
    [[nodiscard]] const Plane<T>& groups() const noexcept { return tree.planes[1]; }
    [[nodiscard]] T hub(std::int64_t cell, int axis) const noexcept { return hubs[axis * cells().stride + cell]; }
};

/// A plane's memory; of what it holds only the end of the last node is known.
template <Coordinate T>
Plane<T> make_plane(Context& context, int dimension, std::int64_t nodes, std::int64_t points, bool has_children) {
    Plane<T> plane;
    plane.nodes = nodes;
    plane.stride = (nodes + 31) / 16 * 16;
    plane.first_point = Buffer<std::int32_t>(context.memory_tracker(), nodes + 1);
    plane.first_child = Buffer<std::int32_t>(context.memory_tracker(), has_children ? nodes + 1 : 0);
    plane.lower_corners = Buffer<T>(context.memory_tracker(), dimension * plane.stride);
    plane.upper_corners = Buffer<T>(context.memory_tracker(), dimension * plane.stride);
    plane.first_point[nodes] = static_cast<std::int32_t>(points);
    return plane;
}

template <Coordinate T>
struct CellGraph {
    std::int32_t edges = 0;      ///< of every cell
    Buffer<std::int32_t> target; ///< cell after cell, nearest first
    Buffer<float> weight;        ///< rounded down
    Buffer<float> horizon;       ///< infinite if every cell is a target
};

/// Cells on one level, and edges between all of them (flat.hpp). Every cell starts at a multiple of the alignment; what
/// lies behind its points is within no distance of anything.
inline constexpr std::int64_t flat_alignment = 16;

template <Coordinate T>
struct FlatCells {
    PointSet<T> points;
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> count;
    std::vector<T> hubs; ///< cell after cell
    std::vector<T> lower;
    std::vector<T> upper;
    Buffer<std::int32_t> target; ///< cell after cell, in ascending order of weight; only of sources
    Buffer<float> weight;        ///< rounded down

    [[nodiscard]] std::int64_t cells() const noexcept { return std::ssize(first); }
};

} // namespace kith::detail
