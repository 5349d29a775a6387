// The growing forest of a spanning tree, as the steps of a round and the walk see it.
//
// Every point has a row of its nearest others, which is as much as is known of its edges: of the first of them in
// another component it is the least edge out of its own; once none is, all that is known is that no such edge is
// shorter than the last of the row. Components only grow, so rows are read once from front to back. A later search of
// the tree refills the last place of a row.
//
// Where edges are weighed by core distances (edge_weight.hpp), rows are in the order of weights, and end where points
// outside may weigh less; the rest of such a row is the point itself, which is never in another component.
//
// Arrays of points are by position in the tree. What is known of a component stands at its root, the lowest position.
#pragma once

#include "groups/union_find.hpp"
#include "mst/edge_weight.hpp"
#include "mst/row_length.hpp"
#include "tree/view.hpp"
#include "walk/receiver_walk.hpp"
#include "walk/schedule.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kith::detail {

template <Coordinate T, class Weight = DistanceWeight<T>>
struct Forest {
    const TreeView<T>* tree;
    int dimension;
    bool periodic; ///< on any axis

    std::int32_t* rows;      ///< positions, nearest first; -1: there are no more points
    std::uint8_t* next;      ///< the first of the row in another component, row_length if none is; or is_duplicate
    T* distance;             ///< weight of the edge to that one; if none is: those to all others weigh no less
    std::int32_t* component; ///< the root

    T* bound;           ///< no less than the weight of the component's best edge
    T* unseen;          ///< the least distance of its points whose rows have none in another component
    std::int32_t* best; ///< the point whose next neighbor makes the best edge known; -1: none is
    Weight weigh;       ///< an edge of that squared length

    [[nodiscard]] std::int32_t neighbor(std::int32_t point) const noexcept {
        return rows[std::int64_t{point} * row_length + next[point]];
    }
};

/// What a node holds, its duplicates left aside.
template <Coordinate T>
struct NodeOfForest {
    static constexpr std::int32_t nothing = -1;
    static constexpr std::int32_t several = -2;

    std::int32_t component; ///< if all of it is one; or nothing, or several
    T reach;                ///< within which its points must be searched, squared; -1: they need not
};

/// Receivers and sources are all points.
template <Coordinate T, class Weight = DistanceWeight<T>>
struct ForestSearch : WalkJob<T> {
    const Forest<T, Weight>* forest;
    std::array<const NodeOfForest<T>*, max_planes> nodes;
    std::array<const T*, max_planes> cores; ///< the least squared core distances of nodes; unused with DistanceWeight
};

/// Memory of one thread.
template <Coordinate T>
struct ForestScratch {
    WalkScratch<T> walk;
    std::vector<std::pair<T, std::int32_t>> near_leaves; ///< by distance from a leaf
    ScratchArray<T> near_cores;                          ///< the least squared core distances of these
};

/// The steps of a round that measure distances, compiled for each instruction set.
template <Coordinate T, class Weight>
struct ForestSteps {
    /// Reads the rows of the points [begin, end) on, to neighbors in other components, and brings what they know to
    /// their components.
    static void read_rows(const Forest<T, Weight>& forest, std::int64_t begin, std::int64_t end);

    /// Bounds components by the edges between points that follow each other in the order of the tree, [begin, end)
    /// being the first ones of such pairs.
    static void bound_by_order(const Forest<T, Weight>& forest, std::int64_t begin, std::int64_t end);

    /// Finds the next neighbors of the points of a node of the plane of the tasks, as far as their components need
    /// them.
    static void search(const ForestSearch<T, Weight>& search, std::int64_t node, ForestScratch<T>& scratch);
};

/// Sorts the rows of the points [begin, end), which are by distance, by weight, and ends them at the frontier.
void weigh_rows(const Forest<float, ReachabilityWeight<float>>& forest, std::int64_t begin, std::int64_t end);
void weigh_rows(const Forest<double, ReachabilityWeight<double>>& forest, std::int64_t begin, std::int64_t end);

/// Sets the lengths of the edges [begin, end), whose ends are positions, and makes original indices of these.
void measure_edges(const Forest<float, ReachabilityWeight<float>>& forest, WeighedEdge<float>* edges,
                   std::int64_t begin, std::int64_t end);
void measure_edges(const Forest<double, ReachabilityWeight<double>>& forest, WeighedEdge<double>* edges,
                   std::int64_t begin, std::int64_t end);

} // namespace kith::detail
