// What orders edges first: their squared length, or the square of the mutual reachability distance of HDBSCAN*, which is
// the largest of the length and the core distances of both ends (docs/semantics.md, "Minimum spanning tree", "HDBSCAN*").
// Boruvka's rounds and the walk take either as a policy.
//
// A weight is never less than the squared length, nor than what the core distances of a node allow: so every bound by
// distance holds, and the least core distance of a node prunes it. Edges of equal weights are ordered by length, then
// by their ends.
#pragma once

#include <kith/spanning_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace kith::detail {

/// The squared length itself.
template <Coordinate T>
struct DistanceWeight {
    static constexpr bool is_distance = true;

    T operator()(std::int32_t /*point*/, std::int32_t /*other*/, T squared) const noexcept { return squared; }
};

/// Arrays are by position in the tree.
template <Coordinate T>
struct ReachabilityWeight {
    static constexpr bool is_distance = false;

    const T* core;     ///< squared core distances
    const T* frontier; ///< of each point: edges to points outside its row, or behind what is left of it, weigh no less

    T operator()(std::int32_t point, std::int32_t other, T squared) const noexcept {
        return std::max({squared, core[point], core[other]});
    }
};

/// An edge in the order of weights.
template <Coordinate T>
struct WeighedEdge {
    T weight;
    T squared; ///< length
    SpanningEdge ends;

    friend bool operator<(const WeighedEdge& a, const WeighedEdge& b) noexcept {
        return std::tie(a.weight, a.squared, a.ends.smaller, a.ends.larger) <
               std::tie(b.weight, b.squared, b.ends.smaller, b.ends.larger);
    }
};

/// Memory for the edges of a tree, found in any order, and one number for each point, for any use.
template <Coordinate T>
struct WeighedEdges {
    WeighedEdge<T>* edges;
    T* spare;
    std::int64_t count;
};

} // namespace kith::detail
