// A spanning tree by mutual reachability distances, from the edges that an engine found to the result.
#pragma once

#include <kith/hdbscan.hpp>

#include "mst/edge_weight.hpp"
#include "mst/edges.hpp"
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

/// What is known of this number of points in the frame.
template <Coordinate T>
void describe(const Frame<T>& frame, std::int64_t points, HdbscanResult& result);

/// The edges of a spanning tree by lengths alone: of points that are too few for any to be a core point, so that all
/// weights and core distances are infinite.
template <Coordinate T>
void set_without_core(const EdgeMemory<T>& edges, const WeighedEdges<T>& to);

/// All edges have been set: sorts them, and takes the heights of weights and core distances. Runs inside a stage.
template <Coordinate T>
void finish_tree(Context& context, const Frame<T>& frame, WeighedTree<T>& tree, HdbscanResult& result);

/// The same of edges that are sorted.
template <Coordinate T>
void measure_tree(const Frame<T>& frame, const WeighedTree<T>& tree, HdbscanResult& result);

/// Goes over the edges of points, as given, once more, where coordinates are tiny.
template <Coordinate T>
void count_unresolved(Context& context, const Frame<T>& frame, const PointsView& given, HdbscanResult& result);

} // namespace kith::detail
