// An edge in the order of edges: by squared length, then smaller, then larger index (docs/semantics.md, "Minimum spanning
// tree").
#pragma once

#include <kith/spanning_tree.hpp>

#include <tuple>

namespace kith::detail {

template <Coordinate T>
struct OrderedEdge {
    T squared;
    SpanningEdge ends;

    friend bool operator<(const OrderedEdge& a, const OrderedEdge& b) noexcept {
        return std::tie(a.squared, a.ends.smaller, a.ends.larger) < std::tie(b.squared, b.ends.smaller, b.ends.larger);
    }
};

} // namespace kith::detail
