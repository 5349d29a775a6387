// The spanning tree of mutual reachability distances, which HDBSCAN* cuts: core distances, and edges in any order.
//
// Method: Boruvka's rounds with weights of edges (boruvka.hpp, edge_weight.hpp). Their rows come from a search for as
// many others as a core point needs, which gives the core distances as well; most first edges of points then weigh just
// their core distances, and are in the rows. Source: Campello, Moulavi and Sander, PAKDD 2013; the rounds in this
// metric: Prokopenko, Sao, Lebrun-Grandie, ICPP 2022, section 3.3. Cost: that of the search and of the rounds.
#pragma once

#include "mst/boruvka.hpp"
#include "mst/edge_weight.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kith::detail {

/// The edges of a tree of min_samples points or more; runs the stages "neighbors" and "connect" of the context. The
/// squared core distances go, by original index, to what is spare of the edges.
template <Coordinate T>
void span_by_reachability(Context& context, const PlaneTree<T>& tree, std::int64_t min_samples,
                          const WeighedEdges<T>& edges) {
    using Weight = ReachabilityWeight<T>;
    const std::int64_t count = tree.points.count;
    const std::int64_t others = std::max<std::int64_t>(row_length, min_samples - 1);
    Buffer<T> core(context.memory_tracker(), count);
    if (count < 2) {
        std::fill_n(edges.spare, count, T(0));
        return;
    }
    {
        Buffer<T> frontier(context.memory_tracker(), count);
        std::optional<Boruvka<T, Weight, WeighedEdges<T>>> boruvka;
        context.stage("neighbors", [&] {
            boruvka.emplace(context, tree, edges, Weight{core.data(), frontier.data()});
            boruvka->find_rows(tree, others, [&](std::int64_t point, const T* squared) {
                core[point] = min_samples > 1 ? squared[min_samples - 2] : T(0);
                frontier[point] = squared[others - 1];
            });
        });
        context.stage("connect", [&] { boruvka->connect(); });
    }
    context.run([&] {
        parallel_each(count, 1 << 14,
                      [&](std::int64_t point) { edges.spare[tree.points.indices[point]] = core[point]; });
    });
}

/// The same for squared core distances that are known, by position; none is larger than among the points of the tree
/// alone. The spare memory of the edges is not set.
template <Coordinate T>
void span_by_reachability(Context& context, const PlaneTree<T>& tree, const T* core, const WeighedEdges<T>& edges) {
    using Weight = ReachabilityWeight<T>;
    const std::int64_t count = tree.points.count;
    if (count < 2) {
        return;
    }
    Buffer<T> frontier(context.memory_tracker(), count);
    std::optional<Boruvka<T, Weight, WeighedEdges<T>>> boruvka;
    context.stage("neighbors", [&] {
        boruvka.emplace(context, tree, edges, Weight{core, frontier.data()});
        boruvka->find_rows(tree, row_length, [&](std::int64_t point, const T* squared) {
            frontier[point] = std::max(core[point], squared[row_length - 1]);
        });
    });
    context.stage("connect", [&] { boruvka->connect(); });
}

} // namespace kith::detail
