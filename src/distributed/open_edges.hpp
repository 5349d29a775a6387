// Edges that may belong to the spanning tree over ranks, and the components that they may join. Length is that of a
// metric (tree_metric.hpp).
#pragma once

#include <kith/spanning_tree.hpp>

#include "mst/ordered_edge.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace kith::detail {

/// An edge between rows of a rank, which are in the order of numbers.
template <class Length>
using RowEdge = OrderedEdge<Length>;

/// An edge of the whole tree by the numbers of its ends, in the order of edges; and the ranks of these points.
template <class Length>
struct RankEdge {
    Length length;
    std::int64_t smaller;
    std::int64_t larger;
    std::int32_t smaller_rank;
    std::int32_t larger_rank;

    friend bool operator<(const RankEdge& a, const RankEdge& b) noexcept {
        return std::tie(a.length, a.smaller, a.larger) < std::tie(b.length, b.smaller, b.larger);
    }
};

/// What a rank has found of the tree.
template <class Length>
struct FoundEdges {
    Buffer<RowEdge<Length>> own;          ///< of the rank's own points, ascending
    std::int64_t joined_own = 0;          ///< those at the front of `own` are of the tree
    std::vector<RankEdge<Length>> joined; ///< others of the tree, in any order
};

/// An edge that may be one of the tree, and the components of its ends, by their names.
template <class Length>
struct OpenEdge {
    RankEdge<Length> edge;
    std::int64_t components[2];
};

/// Components with points of this rank.
template <class Length>
struct OwnComponents {
    static constexpr std::int32_t none = -1;

    Buffer<std::int32_t> of_row;     ///< number in the lists below; none: a point that coincides with one before it
    std::vector<std::int64_t> names; ///< the same on all ranks
    /// Length of the least edge out of it that any rank knows, or what comes after all edges. Or what comes before all:
    /// it may wait for others.
    std::vector<Length> nearest;
};

} // namespace kith::detail
