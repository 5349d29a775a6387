// The minimum spanning tree by Kruskal's method: all pairs of points in the order of edges, each taken unless its ends
// are connected already. The contract is docs/semantics.md, "Minimum spanning tree". Cost: n^2 log n.
#pragma once

#include "oracle/working_copy.hpp"

#include <cstdint>
#include <vector>

namespace kith::oracle {

template <class T>
struct TreeEdge {
    std::int32_t smaller = 0;
    std::int32_t larger = 0;
    T weight = 0;
    T height = 0;

    friend bool operator==(const TreeEdge&, const TreeEdge&) = default;
};

template <class T>
std::vector<TreeEdge<T>> spanning_tree(const WorkingCopy<T>& points);

} // namespace kith::oracle
