// The edges of a spanning tree, from those that an engine found to the result.
#pragma once

#include <kith/spanning_tree.hpp>

#include "groups/resolve_length.hpp"
#include "mst/tree_part.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace kith::detail {

/// A result's memory while its edges are being found, in any order.
template <Coordinate T>
struct EdgeMemory {
    SpanningEdge* ends;
    T* squared; ///< lengths in working units
    T* spare;   ///< one for each point, for any use
    std::int64_t count;

    void set(std::int64_t edge, std::int32_t index, std::int32_t other, T squared_length) const noexcept {
        ends[edge] = {std::min(index, other), std::max(index, other)};
        squared[edge] = squared_length;
    }
};

} // namespace kith::detail

namespace kith {

/// Makes results.
struct SpanningTreeAccess {
    /// A result for so many points, with memory for its edges. Throws out_of_memory.
    static SpanningTree make(std::int64_t points, DType dtype, Engine engine);

    template <Coordinate T>
    static detail::EdgeMemory<T> memory(const SpanningTree& result) {
        return {static_cast<SpanningEdge*>(result.edges_.get()), static_cast<T*>(result.weights_.get()),
                static_cast<T*>(result.heights_.get()), result.count()};
    }

    /// What is known of points in this frame. For phase space it is the frame of the positions.
    template <Coordinate T>
    static void describe(const detail::Frame<T>& frame, SpanningTree& result);

    /// What phase space adds: its own frame, and the lengths that were resolved for it.
    template <Coordinate T>
    static void describe_phase_space(const detail::Frame<T>& frame, const ResolvedLengths& lengths,
                                     SpanningTree& result);

    /// All edges have been set: sorts them, and takes the root of their lengths. Runs inside a stage.
    template <Coordinate T>
    static void finish(detail::Context& context, const detail::Frame<T>& frame, SpanningTree& result);

    /// The same of edges that are sorted.
    template <Coordinate T>
    static void measure(detail::Context& context, const detail::Frame<T>& frame, SpanningTree& result);

    /// A result without edges, for a part of the tree of `points` points.
    static SpanningTree part_of(std::int64_t points, DType dtype);

    /// Memory of a part of the tree, in the order of its edges; it replaces what the result has.
    template <Coordinate T>
    struct PartMemory {
        SpanningEdge64* ends;
        T* weights;
        T* heights;
    };
    template <Coordinate T>
    static PartMemory<T> part_memory(SpanningTree& result, std::int64_t count);
    /// What is known of a part besides its edges; a tree over ranks has it.
    static const detail::TreePart& part(const SpanningTree& tree) { return *tree.part_; }
    static void set_part(SpanningTree& result, detail::TreePart part) {
        result.part_ = std::make_shared<const detail::TreePart>(std::move(part));
    }
    /// The same facts without edges.
    static SpanningTree without_edges(const SpanningTree& tree);
    static const void* ends(const SpanningTree& result) { return result.edges_.get(); }
    /// A tree of one process as the only part of a tree over ranks.
    static SpanningTree widened(SpanningTree tree, const Execution& execution);

    /// Goes over the edges of points, as given, once more, where coordinates are tiny.
    template <Coordinate T>
    static void count_unresolved(detail::Context& context, const detail::Frame<T>& frame, const PointsView& given,
                                 SpanningTree& result);

    /// Of the points of a result.
    static detail::Separation separation(const SpanningTree& result);

    /// The psi of groups at a linking length.
    static double velocity_length(const SpanningTree& result, double linking_length);
};

} // namespace kith
