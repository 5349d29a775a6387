// The neighbors of a few single queries in a kept plane tree, found in the calling thread.
//
// The receiver walk (knn.hpp) serves many queries at once: it sorts them into a tree, makes a schedule and hands out
// tasks. For few queries that costs several times the search itself. Here every query walks down the planes by itself,
// the nearest node first, and keeps its k nearest so far. Nothing is locked or counted, and for few neighbors nothing
// allocated, so that calls from any number of threads, and from inside tasks, do not touch each other. Cost: about as
// many leaves as the sphere around the k neighbors meets, and some steps for each candidate that is kept. Coincident
// points cost no more than others: bounds include the index.
//
// Answers are those of every engine, bit for bit: distances and bounds come from geometry/distances-inl.hpp, and a
// candidate, a leaf or a node is left out only if it comes after the k-th in the order of (distance, index).
#pragma once

#include "neighbors/search.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>

namespace kith::detail {

/// The most neighbors of a query whose candidates are kept in order, on the stack.
inline constexpr std::int64_t max_sorted_neighbors = 128;

template <Coordinate T>
struct PointSearchJob {
    const PlaneTree<T>* sources; ///< not empty
    const PointsView* queries;   ///< in raw units, of the sources' type and dimension
    const KnnRequest<T>* request;
    RowMemory<T> rows; ///< in the order of the queries
};

/// Finds and writes the rows of all queries, one after the other. Returns false, and writes nothing, if a query is not
/// finite or too far away, or if coordinates are tiny (points/frame.hpp): then some rows may be unresolved.
[[nodiscard]] bool search_points(const PointSearchJob<float>& job);
[[nodiscard]] bool search_points(const PointSearchJob<double>& job);

} // namespace kith::detail
