// The minimum spanning tree by comparing all with all.
//
// The tree grows from one point. Every point outside knows the least edge that joins it to the tree; the least of these
// edges is taken, the next point with it, and the others see whether that one is nearer. Source: Prim (1957), Bell
// System Technical Journal 36, 1389, in the form of Dijkstra (1959) for dense graphs. Cost: n^2 / 2 distances, a vector
// at a time, by one thread; memory for a copy of the points and an edge each.
//
// Of two edges that end at the same outside point, equally long, the one with the smaller other index comes first in
// the order of edges: indices alone are compared.
#pragma once

#include "mst/edges.hpp"
#include "points/point_set.hpp"
#include "support/context.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::detail {

/// The points that the tree does not hold, in no order. Arrays have room for a whole vector more.
template <Coordinate T>
struct PointsOutside {
    using LaneIndex = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

    int dimension;
    bool periodic; ///< on any axis
    Periods<T> period;
    std::int64_t stride;
    T* coordinates; ///< axis after axis
    LaneIndex* indices;
    T* squared;         ///< distance to the tree
    LaneIndex* nearest; ///< the tree's point of that distance; of several the smallest
    std::int64_t count;
};

/// Lets every point outside see the one that the tree took last, and returns the position of the one that it takes
/// next.
std::int64_t next_point(const PointsOutside<float>& outside, const float* taken, std::int32_t index);
std::int64_t next_point(const PointsOutside<double>& outside, const double* taken, std::int32_t index);

/// The edges of points in any order, in any order.
template <Coordinate T>
void span_all_pairs(Context& context, const PointSet<T>& points, const EdgeMemory<T>& edges) {
    using LaneIndex = typename PointsOutside<T>::LaneIndex;
    const int dimension = points.dimension();
    if (edges.count == 0) {
        return;
    }
    Buffer<T> coordinates(context.memory_tracker(), points.stride * dimension);
    Buffer<LaneIndex> indices(context.memory_tracker(), points.stride);
    Buffer<T> squared(context.memory_tracker(), points.stride);
    Buffer<LaneIndex> nearest(context.memory_tracker(), points.stride);
    std::copy_n(points.coordinates.data(), points.stride * dimension, coordinates.data());
    std::copy_n(points.indices.data(), points.count, indices.data());
    std::fill_n(indices.data() + points.count, points.stride - points.count, LaneIndex{0});
    std::fill_n(squared.data(), points.stride, std::numeric_limits<T>::infinity());
    std::fill_n(nearest.data(), points.stride, LaneIndex{0});
    PointsOutside<T> outside{dimension,      points.frame.periodic, points.frame.working_period,
                             points.stride,  coordinates.data(),    indices.data(),
                             squared.data(), nearest.data(),        points.count};
    std::array<T, max_dimension> taken{};
    const auto take = [&](std::int64_t position) { // the last one fills the gap
        const std::int64_t last = --outside.count;
        for (int axis = 0; axis < dimension; ++axis) {
            T* const x = outside.coordinates + axis * outside.stride;
            taken[axis] = x[position];
            x[position] = x[last];
        }
        const auto index = static_cast<std::int32_t>(outside.indices[position]);
        outside.indices[position] = outside.indices[last];
        outside.squared[position] = outside.squared[last];
        outside.nearest[position] = outside.nearest[last];
        return index;
    };
    context.expect(edges.count);
    std::int32_t index = take(0);
    for (std::int64_t i = 0; i < edges.count; ++i) {
        const std::int64_t position = next_point(outside, taken.data(), index);
        const auto other = static_cast<std::int32_t>(outside.nearest[position]);
        const T length = outside.squared[position];
        index = take(position);
        edges.set(i, index, other, length);
        context.done(1);
    }
}

} // namespace kith::detail
