// What orders edges first: their squared length, or the square of the mutual reachability distance of HDBSCAN*, which
// is the largest of the length and the core distances of both ends (docs/semantics.md, "Minimum spanning tree",
// "HDBSCAN*"). Boruvka's rounds and their searches take either as a policy, on the CPU and on a GPU.
//
// A weight is never less than the squared length, nor than what the core distances of a node allow: so every bound by
// distance holds, and the least core distance of a node prunes it. Edges of equal weights are ordered by length, then
// by their ends.
#pragma once

#include <kith/spanning_tree.hpp>

#include "support/host_device.hpp"

#include <cstdint>
#include <tuple>

namespace kith::detail {

/// The squared length itself.
template <Coordinate T>
struct DistanceWeight {
    static constexpr bool is_distance = true;

    KITH_HOST_DEVICE T operator()(std::int32_t /*point*/, std::int32_t /*other*/, T squared) const noexcept {
        return squared;
    }
};

/// Arrays are by position in the tree.
template <Coordinate T>
struct ReachabilityWeight {
    static constexpr bool is_distance = false;

    const T* core;     ///< squared core distances
    const T* frontier; ///< of each point: edges to points outside its row, or behind what is left of it, weigh no less

    KITH_HOST_DEVICE T operator()(std::int32_t point, std::int32_t other, T squared) const noexcept {
        const T cores = core[point] < core[other] ? core[other] : core[point];
        return squared < cores ? cores : squared;
    }
};

/// A point's edge to another one. At one point edges are ordered by the indices of the others where their weights and
/// lengths are equal.
template <Coordinate T>
struct WeighedNeighbor {
    T weight;
    T squared;          ///< length
    std::int32_t index; ///< original index
    std::int32_t point; ///< position in the tree

    KITH_HOST_DEVICE friend bool operator<(const WeighedNeighbor& a, const WeighedNeighbor& b) noexcept {
        return a.weight != b.weight     ? a.weight < b.weight
               : a.squared != b.squared ? a.squared < b.squared
                                        : a.index < b.index;
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
