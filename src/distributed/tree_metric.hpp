// What orders the edges of a tree over ranks before their ends: the policy of its rounds (tree_rounds.hpp).
//
// That is the squared distance, or for HDBSCAN* the square of the mutual reachability distance, which is the largest of
// the squared distance and the squared core distances of both ends. Many edges then weigh exactly a core distance, and
// the squared distance decides, so it belongs to the length, in this order. No edge is less than its squared distance:
// ranks ask for points by distance, whatever the metric. If b bounds the squared distance of a point to points of other
// ranks, between(core, 0, b) bounds its edges to them. All squares are in working units.
#pragma once

#include "distributed/contraction.hpp"
#include "distributed/open_edges.hpp"
#include "mst/boruvka.hpp"
#include "mst/reachability.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>

namespace kith::detail {

template <Coordinate T>
struct ReachLength {
    T reach;   ///< squared mutual reachability distance
    T squared; ///< distance

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm at <=>
    friend auto operator<=>(const ReachLength&, const ReachLength&) = default;
    friend ReachLength operator*(T factor, const ReachLength& length) {
        return {factor * length.reach, factor * length.squared};
    }
};

template <Coordinate T>
inline constexpr ReachLength<T> after_all_edges<ReachLength<T>>{std::numeric_limits<T>::infinity(),
                                                                std::numeric_limits<T>::infinity()};
template <Coordinate T>
inline constexpr ReachLength<T> before_all_edges<ReachLength<T>>{-1, -1};

template <Coordinate T>
struct PlainDistance {
    using Scalar = T;
    using Length = T;
    static constexpr bool has_cores = false;

    [[nodiscard]] static T core(std::int64_t /*row*/) { return 0; }
    [[nodiscard]] static T between(T /*core*/, T /*core_of_other*/, T squared) { return squared; }
    [[nodiscard]] static T squared_of(T length) { return length; }
    /// The squared distance within which a point's edges of up to a length end.
    [[nodiscard]] static T radius_of(T length, T /*core*/) { return length; }

    /// The edges of the tree of some points, in any order. Runs stages.
    template <class CoreOf>
    [[nodiscard]] static Buffer<RowEdge<T>> span(Context& context, const PlaneTree<T>& tree, const CoreOf& /*core*/) {
        const std::int64_t count = std::max<std::int64_t>(0, tree.points.count - 1);
        Buffer<SpanningEdge> ends(context.memory_tracker(), count);
        Buffer<T> squared(context.memory_tracker(), count);
        {
            Buffer<T> spare(context.memory_tracker(), tree.points.count);
            span_tree(context, tree, EdgeMemory<T>{ends.data(), squared.data(), spare.data(), count});
        }
        Buffer<RowEdge<T>> edges(context.memory_tracker(), count);
        context.run([&] { parallel_each(count, 1 << 14, [&](std::int64_t i) { edges[i] = {squared[i], ends[i]}; }); });
        return edges;
    }
};

template <Coordinate T>
struct MutualReachability {
    using Scalar = T;
    using Length = ReachLength<T>;
    static constexpr bool has_cores = true;

    std::span<const T> cores; ///< squared core distances, by row; all infinite if there are too few points for any

    [[nodiscard]] T core(std::int64_t row) const { return cores[row]; }
    [[nodiscard]] static Length between(T core, T core_of_other, T squared) {
        return {std::max({core, core_of_other, squared}), squared};
    }
    [[nodiscard]] static T squared_of(const Length& length) { return length.squared; }
    [[nodiscard]] static T radius_of(const Length& length, T core) {
        return core < length.reach ? length.reach : length.squared;
    }

    /// core(index): the squared core distance of a point, by its index in the tree.
    template <class CoreOf>
    [[nodiscard]] static Buffer<RowEdge<Length>> span(Context& context, const PlaneTree<T>& tree, const CoreOf& core) {
        const std::int64_t count = std::max<std::int64_t>(0, tree.points.count - 1);
        Buffer<WeighedEdge<T>> found(context.memory_tracker(), count);
        {
            Buffer<T> cores(context.memory_tracker(), tree.points.count);
            Buffer<T> spare(context.memory_tracker(), tree.points.count);
            for (std::int64_t i = 0; i < tree.points.count; ++i) {
                cores[i] = core(tree.points.indices[i]);
            }
            span_by_reachability(context, tree, cores.data(), WeighedEdges<T>{found.data(), spare.data(), count});
        }
        Buffer<RowEdge<Length>> edges(context.memory_tracker(), count);
        context.run([&] {
            parallel_each(count, 1 << 14, [&](std::int64_t i) {
                edges[i] = {{found[i].weight, found[i].squared}, found[i].ends};
            });
        });
        return edges;
    }
};

} // namespace kith::detail
