// Edges of spanning trees, and what is made of them, as Python has them.
#pragma once

#include "arrays.hpp"

#include <kith/hierarchy.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::python {

/// Rows of two indices, which view the edges of `owner`.
template <class Index, class Edge>
[[nodiscard]] nb::object ends_view(std::span<const Edge> edges, nb::handle owner) {
    static_assert(sizeof(Edge) == 2 * sizeof(Index));
    auto* const first = reinterpret_cast<Index*>(const_cast<Edge*>(edges.data()));
    return nb::cast(nb::ndarray<nb::numpy, Index>(first, {edges.size(), 2}, owner));
}

/// The edges of a pickled tree, from rows of two indices.
[[nodiscard]] inline std::vector<SpanningEdge> edges_from(nb::handle rows) {
    using Ends = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
    const auto ends = nb::cast<Ends>(rows);
    std::vector<SpanningEdge> edges(ends.shape(0));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        edges[i] = {ends(i, 0), ends(i, 1)};
    }
    return edges;
}

/// SciPy's matrix, over ranks the rows of this one, in memory of its own.
[[nodiscard]] inline nb::object linkage_of(const Hierarchy& hierarchy) {
    std::vector<double> numbers(4 * (hierarchy.distribution ? hierarchy.merges64().size() : hierarchy.merges().size()));
    hierarchy.write_linkage(numbers);
    return owned_array(std::move(numbers), 4);
}

} // namespace kith::python
