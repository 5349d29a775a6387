// Point sets and tree shapes for searches of few queries.
#pragma once

#include "support/cases.hpp"

#include <kith/tree.hpp>

#include <algorithm>
#include <vector>

namespace kith::test {

/// Points on a lattice, every one three times, in an order of their own.
template <class T>
std::vector<T> lattice_of_triples() {
    std::vector<T> points;
    for (int i = 0; i < 3 * 512; ++i) {
        const int cell = i * 7 % 512;
        for (const int x : {cell % 8, cell / 8 % 8, cell / 64}) {
            points.push_back(static_cast<T>(x) / 8);
        }
    }
    return points;
}

/// Uniform points, of which 700 coincide.
template <class T>
std::vector<T> partly_coincident() {
    std::vector<T> points = uniform_points<T>(3000, 3, 0, 1, 31);
    std::fill_n(points.begin() + 3 * 1000, 3 * 700, T(0.5));
    return points;
}

template <class T>
std::vector<std::vector<T>> sets_of_few_queries() {
    return {uniform_points<T>(4000, 3, 0, 1, 32), lattice_of_triples<T>(), partly_coincident<T>()};
}

/// Leaves of one point and of more than are measured at once, all nodes on top, more of them than are compared at once,
/// and many planes.
inline std::vector<TreeShape> shapes_of_few_queries() {
    return {{},
            {.leaf_size = 1, .coarsening = 2, .top_size = 1},
            {.leaf_size = 1, .top_size = 5000},
            {.leaf_size = 500, .top_size = 1},
            {.leaf_size = 5000},
            {.leaf_size = 8, .coarsening = 1000, .top_size = 1}};
}

/// Some around the points, some of the points, and some between those of the lattice: 18.
template <class T>
std::vector<T> few_queries_for(const std::vector<T>& points) {
    std::vector<T> queries = uniform_points<T>(10, 3, -1, 2, 33);
    queries.insert(queries.end(), points.begin(), points.begin() + 15);
    queries.insert(queries.end(), {T(0.5), T(0.5), T(0.5), T(0.25), T(0.5), T(0.5), T(0.0625), T(0), T(0)});
    return queries;
}

} // namespace kith::test
