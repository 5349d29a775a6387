// Edges and components of the tree of mutual reachability distances over ranks (reachability_tree.hpp).
#pragma once

#include "distributed/contraction.hpp"
#include "distributed/shared_frame.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

namespace kith::detail {

/// An edge in the order of edges; or what comes before or after some.
template <Coordinate T>
struct ReachabilityEdge {
    T weight;  ///< square of the mutual reachability distance
    T squared; ///< length
    std::int64_t smaller;
    std::int64_t larger;

    friend bool operator==(const ReachabilityEdge&, const ReachabilityEdge&) = default;
    friend bool operator<(const ReachabilityEdge& a, const ReachabilityEdge& b) noexcept {
        return std::tie(a.weight, a.squared, a.smaller, a.larger) < std::tie(b.weight, b.squared, b.smaller, b.larger);
    }
};

template <Coordinate T>
inline constexpr ReachabilityEdge<T> after_all_edges<ReachabilityEdge<T>>{
    std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity(), std::numeric_limits<std::int64_t>::max(),
    std::numeric_limits<std::int64_t>::max()};

/// An edge between two components, by their names.
template <Coordinate T>
struct NamedEdge {
    ReachabilityEdge<T> edge;
    std::array<std::int64_t, 2> names;
};

/// The components of this rank's points. The name of a component is the least place of a point in it, and its nearest
/// edge the least out of it that any rank knows, or what comes after all.
template <Coordinate T>
struct NamedComponents {
    std::vector<std::int32_t> of_row;
    std::vector<std::int64_t> names;
    std::vector<ReachabilityEdge<T>> nearest;

    [[nodiscard]] std::int64_t name_of(std::int64_t row) const { return names[of_row[row]]; }
};

/// The points of one rank, in the order of their numbers.
template <Coordinate T>
struct ReachablePoints {
    const SharedPoints<T>& shared;
    std::span<const std::int64_t> places; ///< ascending: each point's in the order of all, which edges hold
    std::span<const T> core;              ///< squared core distances; all infinite if there are too few points for one
};

} // namespace kith::detail
