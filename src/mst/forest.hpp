// The growing forest of a spanning tree, as the steps of a round and the walk see it.
//
// Every point has a row of its nearest others, which is as much as is known of its edges: of the first of them in
// another component it is the least edge out of its own; once none is, all that is known is that no such edge is
// shorter than the last of the row. Components only grow, so rows are read once from front to back. A later search of
// the tree refills the last place of a row.
//
// Arrays of points are by position in the tree. What is known of a component stands at its root, the lowest position.
#pragma once

#include "groups/union_find.hpp"
#include "mst/row_length.hpp"
#include "tree/view.hpp"
#include "walk/receiver_walk.hpp"
#include "walk/schedule.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kith::detail {

template <Coordinate T>
struct Forest {
    const TreeView<T>* tree;
    int dimension;
    bool periodic; ///< on any axis

    std::int32_t* rows;      ///< positions, nearest first; -1: there are no more points
    std::uint8_t* next;      ///< the first of the row in another component, row_length if none is; or is_duplicate
    T* distance;             ///< squared, to that one; if none is: to all others it is no less
    std::int32_t* component; ///< the root

    T* bound;           ///< no less than the squared length of the component's best edge
    T* unseen;          ///< the least distance of its points whose rows have none in another component
    std::int32_t* best; ///< the point whose next neighbor makes the best edge known; -1: none is

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

/// Reads the rows of the points [begin, end) on, to neighbors in other components, and brings what they know to their
/// components.
void read_rows(const Forest<float>& forest, std::int64_t begin, std::int64_t end);
void read_rows(const Forest<double>& forest, std::int64_t begin, std::int64_t end);

/// Bounds components by the distances of points that follow each other in the order of the tree, [begin, end) being the
/// first ones of such pairs.
void bound_by_order(const Forest<float>& forest, std::int64_t begin, std::int64_t end);
void bound_by_order(const Forest<double>& forest, std::int64_t begin, std::int64_t end);

/// Receivers and sources are all points.
template <Coordinate T>
struct ForestSearch : WalkJob<T> {
    const Forest<T>* forest;
    std::array<const NodeOfForest<T>*, max_planes> nodes;
};

/// Memory of one thread.
template <Coordinate T>
struct ForestScratch {
    WalkScratch<T> walk;
    std::vector<std::pair<T, std::int32_t>> near_leaves; ///< by distance from a leaf
};

/// Finds the next neighbors of the points of a node of the plane of the tasks, as far as their components need them.
void search_forest(const ForestSearch<float>& search, std::int64_t node, ForestScratch<float>& scratch);
void search_forest(const ForestSearch<double>& search, std::int64_t node, ForestScratch<double>& scratch);

} // namespace kith::detail
