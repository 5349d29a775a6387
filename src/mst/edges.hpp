// The edges of a spanning tree, from those that an engine found to the result.
#pragma once

#include <kith/spanning_tree.hpp>

#include "points/frame.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <tuple>

namespace kith::detail {

/// Ordered by (squared distance, smaller index, larger index).
template <Coordinate T>
struct FoundEdge {
    T squared; ///< in working units
    std::int32_t smaller;
    std::int32_t larger;

    friend bool operator<(const FoundEdge& a, const FoundEdge& b) noexcept {
        return std::tie(a.squared, a.smaller, a.larger) < std::tie(b.squared, b.smaller, b.larger);
    }
};

} // namespace kith::detail

namespace kith {

/// Makes results.
struct SpanningTreeAccess {
    /// A result for so many points, with memory for its edges. Throws out_of_memory.
    static SpanningTree make(std::int64_t points, DType dtype, Engine engine);

    /// Brings all edges, found in any order, into the result. Runs inside a stage.
    template <Coordinate T>
    static void fill(detail::Context& context, const detail::Frame<T>& frame,
                     detail::Buffer<detail::FoundEdge<T>>& edges, SpanningTree& result);
};

} // namespace kith
