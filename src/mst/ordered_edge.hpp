// An edge in the order of edges: by squared length, then smaller, then larger index (docs/semantics.md, "Minimum
// spanning tree"). Over ranks the length is that of a metric (distributed/tree_metric.hpp).
#pragma once

#include <kith/spanning_tree.hpp>

#include <tuple>

namespace kith::detail {

template <class Length>
struct OrderedEdge {
    Length length; ///< squared
    SpanningEdge ends;

    friend bool operator<(const OrderedEdge& a, const OrderedEdge& b) noexcept {
        return std::tie(a.length, a.ends.smaller, a.ends.larger) < std::tie(b.length, b.ends.smaller, b.ends.larger);
    }
};

} // namespace kith::detail
