// The minimum spanning tree by comparing all with all.
//
// The tree grows from one point. Every point outside knows the least edge that joins it to the tree; the least of these
// edges is taken, the next point with it, and the others see whether that one is nearer. Source: Prim (1957), Bell
// System Technical Journal 36, 1389, in the form of Dijkstra (1959) for dense graphs. Cost: n^2 / 2 distances, a vector
// at a time, by one thread; memory for a copy of the points and an edge each. Edges are weighed by their squared
// lengths, or by core distances too (mst/edge_weight.hpp).
//
// Of two edges that end at the same outside point, equally long, the one with the smaller other index comes first in
// the order of edges: indices alone are compared.
#pragma once

#include "engines/brute_force/knn.hpp"
#include "mst/edge_weight.hpp"
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
    T* core;            ///< squared core distance; null: edges are weighed by their length alone
    T* weight;          ///< of the least edge to the tree
    T* squared;         ///< length of that edge; the weight itself where there are no core distances
    LaneIndex* nearest; ///< the tree's point of that edge; of several the smallest
    std::int64_t count;
};

/// The point that the tree took last.
template <Coordinate T>
struct TakenPoint {
    std::array<T, max_dimension> coordinates;
    T core;
    std::int32_t index;
};

/// Lets every point outside see the one that the tree took last, and returns the position of the one that it takes
/// next.
std::int64_t next_point(const PointsOutside<float>& outside, const TakenPoint<float>& taken);
std::int64_t next_point(const PointsOutside<double>& outside, const TakenPoint<double>& taken);

/// Edges of points in any order; set(edge, index, other, weight, squared length) is called for each. `core` are the
/// squared core distances of the points, or null.
template <Coordinate T, class Set>
void grow_tree(Context& context, const PointSet<T>& points, const T* core, const Set& set) {
    using LaneIndex = typename PointsOutside<T>::LaneIndex;
    const int dimension = points.dimension();
    if (points.count < 2) {
        return;
    }
    Buffer<T> coordinates(context.memory_tracker(), points.stride * dimension);
    Buffer<LaneIndex> indices(context.memory_tracker(), points.stride);
    Buffer<T> cores(context.memory_tracker(), core != nullptr ? points.stride : 0);
    Buffer<T> weights(context.memory_tracker(), core != nullptr ? points.stride : 0);
    Buffer<T> squared(context.memory_tracker(), points.stride);
    Buffer<LaneIndex> nearest(context.memory_tracker(), points.stride);
    std::copy_n(points.coordinates.data(), points.stride * dimension, coordinates.data());
    std::copy_n(points.indices.data(), points.count, indices.data());
    std::fill_n(indices.data() + points.count, points.stride - points.count, LaneIndex{0});
    std::fill_n(squared.data(), points.stride, std::numeric_limits<T>::infinity());
    std::fill_n(nearest.data(), points.stride, LaneIndex{0});
    if (core != nullptr) {
        std::copy_n(core, points.count, cores.data());
        std::fill_n(cores.data() + points.count, points.stride - points.count, T(0));
        std::fill_n(weights.data(), points.stride, std::numeric_limits<T>::infinity());
    }
    PointsOutside<T> outside{dimension,
                             points.frame.periodic,
                             points.frame.working_period,
                             points.stride,
                             coordinates.data(),
                             indices.data(),
                             core != nullptr ? cores.data() : nullptr,
                             core != nullptr ? weights.data() : squared.data(),
                             squared.data(),
                             nearest.data(),
                             points.count};
    const auto take = [&](std::int64_t position) { // the last one fills the gap
        const std::int64_t last = --outside.count;
        TakenPoint<T> taken{};
        for (int axis = 0; axis < dimension; ++axis) {
            T* const x = outside.coordinates + axis * outside.stride;
            taken.coordinates[axis] = x[position];
            x[position] = x[last];
        }
        taken.index = static_cast<std::int32_t>(outside.indices[position]);
        outside.indices[position] = outside.indices[last];
        outside.squared[position] = outside.squared[last];
        outside.nearest[position] = outside.nearest[last];
        if (core != nullptr) {
            taken.core = outside.core[position];
            outside.core[position] = outside.core[last];
            outside.weight[position] = outside.weight[last];
        }
        return taken;
    };
    context.expect(points.count - 1);
    TakenPoint<T> taken = take(0);
    for (std::int64_t i = 0; i + 1 < points.count; ++i) {
        const std::int64_t position = next_point(outside, taken);
        const auto other = static_cast<std::int32_t>(outside.nearest[position]);
        const T weight = outside.weight[position];
        const T length = outside.squared[position];
        taken = take(position);
        set(i, taken.index, other, weight, length);
        context.done(1);
    }
}

/// The edges of points in any order, in any order.
template <Coordinate T>
void span_all_pairs(Context& context, const PointSet<T>& points, const EdgeMemory<T>& edges) {
    grow_tree<T>(context, points, nullptr,
                 [&](std::int64_t edge, std::int32_t index, std::int32_t other, T weight, T /*squared*/) {
                     edges.set(edge, index, other, weight);
                 });
}

/// Squared distances to the last of each row's neighbors, by position of the query.
template <Coordinate T>
class LastDistances final : public RowSink<T> {
public:
    explicit LastDistances(T* squared) : squared_(squared) {}

    void take(const RowBlock<T>& block) override {
        for (std::int64_t row = 0; row < block.rows; ++row) {
            squared_[block.first + row] = block.distances[(row + 1) * block.k - 1];
        }
    }

private:
    T* squared_;
};

/// The edges of min_samples points or more by mutual reachability distances; the squared core distances go, by original
/// index, to what is spare of the edges. Runs the stages "neighbors" and "connect" of the context.
template <Coordinate T>
void span_all_pairs(Context& context, const PointSet<T>& points, std::int64_t min_samples,
                    const WeighedEdges<T>& edges) {
    Buffer<T> core(context.memory_tracker(), points.count);
    context.stage("neighbors", [&] {
        KnnRequest<T> request{min_samples, false, {}, ReportScale<T>(points.frame, true)};
        request.report.power = PowerOfTwo<T>(0);
        LastDistances<T> sink(core.data());
        search_all_pairs(context, points, points, request, sink);
    });
    context.stage("connect", [&] {
        grow_tree<T>(context, points, core.data(),
                     [&](std::int64_t edge, std::int32_t index, std::int32_t other, T weight, T squared) {
                         edges.edges[edge] = {weight, squared, {std::min(index, other), std::max(index, other)}};
                     });
        for (std::int64_t i = 0; i < points.count; ++i) {
            edges.spare[points.indices[i]] = core[i];
        }
    });
}

} // namespace kith::detail
