// Edges that may belong to the spanning tree over ranks, and the components that they may join.
#pragma once

#include <kith/points.hpp>

#include "support/context.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace kith::detail {

/// An edge of the whole tree by the numbers of its ends, in the order of edges; and the ranks of these points.
template <Coordinate T>
struct RankEdge {
    T squared; ///< in working units
    std::int64_t smaller;
    std::int64_t larger;
    std::int32_t smaller_rank;
    std::int32_t larger_rank;

    friend bool operator<(const RankEdge& a, const RankEdge& b) noexcept {
        return std::tie(a.squared, a.smaller, a.larger) < std::tie(b.squared, b.smaller, b.larger);
    }
};

/// An edge that may be one of the tree, and the components of its ends, by their names.
template <Coordinate T>
struct OpenEdge {
    RankEdge<T> edge;
    std::int64_t components[2];
};

/// Components with points of this rank.
template <Coordinate T>
struct OwnComponents {
    static constexpr std::int32_t none = -1;

    Buffer<std::int32_t> of_row;     ///< number in the lists below; none: a point that coincides with one before it
    std::vector<std::int64_t> names; ///< the same on all ranks
    /// Squared length of the least edge out of it that any rank knows, or infinity. Or below 0: it may wait for others.
    std::vector<T> nearest;
};

} // namespace kith::detail
