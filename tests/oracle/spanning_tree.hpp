// The minimum spanning tree by Kruskal's method: all pairs of points in the order of edges, each taken unless its ends
// are connected already. The contract is docs/semantics.md, "Minimum spanning tree". Cost: n^2 log n.
#pragma once

#include "oracle/working_copy.hpp"

#include <cstdint>
#include <functional>
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

/// The weight of an edge between two points of that squared distance, in squared working units.
template <class T>
using EdgeWeight = std::function<T(std::int32_t, std::int32_t, T)>;

/// The same in the order of (weight, squared distance, smaller index, larger index); weights and heights are those of
/// the edges' weights.
template <class T>
std::vector<TreeEdge<T>> spanning_tree(const WorkingCopy<T>& points, const EdgeWeight<T>& weight_of);

/// The smallest number of type T whose square, in working units, is no less.
template <class T>
T height_of(const WorkingCopy<T>& points, T squared);

} // namespace kith::oracle
