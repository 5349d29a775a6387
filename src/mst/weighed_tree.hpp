// A spanning tree by mutual reachability distances, from the edges that an engine found to the result.
#pragma once

#include <kith/hdbscan.hpp>

#include "mst/edge_weight.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"

#include <cstdint>

namespace kith::detail {

template <Coordinate T>
struct WeighedTree {
    Buffer<WeighedEdge<T>> edges;
    Buffer<T> core; ///< squared core distances, by original index

    /// Of one point or more, not set.
    WeighedTree(Context& context, std::int64_t points)
        : edges(context.memory_tracker(), points - 1), core(context.memory_tracker(), points) {}

    [[nodiscard]] WeighedEdges<T> memory() { return {edges.data(), core.data(), edges.size()}; }
};

/// All edges have been set: sorts them, and takes the heights of weights and core distances. Runs inside a stage.
template <Coordinate T>
void finish_tree(Context& context, const Frame<T>& frame, WeighedTree<T>& tree, HdbscanResult& result);

/// Goes over the edges of points, as given, once more, where coordinates are tiny.
template <Coordinate T>
void count_unresolved(Context& context, const Frame<T>& frame, const PointsView& given, HdbscanResult& result);

} // namespace kith::detail
