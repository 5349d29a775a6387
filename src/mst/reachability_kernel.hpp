// The rows of a spanning tree by mutual reachability distances on a GPU, a thread for each point: from the blocks of a
// search for neighbors to rows in the order of weights, as reachability-inl.hpp has them.
//
// Of a row of the search only what the rounds read is kept: its first neighbors, the core distance and the frontier.
// The edges of a row are sorted in registers, by a network that compares neighbors of either parity in turn.
#pragma once

#include "mst/device_forest.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Squared core distances in memory of the device, and the squared distances beyond which rows know nothing.
template <class T>
struct CoreMemory {
    T* core; ///< by position
    T* frontier;
    T* of_index; ///< core distances by original index

    [[nodiscard]] ReachabilityWeight<T> weight() const { return {core, frontier}; }
};

/// Takes what the rounds need from rows of `others` neighbors, those of the points from the first one on.
template <class T>
struct TakeRows {
    DeviceForest<T, ReachabilityWeight<T>> forest;
    const std::int32_t* position_of; ///< by original index
    CoreMemory<T> to;
    const std::int32_t* indices; ///< original; -1: there are no more points
    const T* distances;          ///< squared, in working units
    std::int64_t others;
    std::int64_t min_samples;
    std::int32_t first_point;

    __device__ void operator()(std::int64_t number) const {
        const std::int64_t point = first_point + number;
        const std::int64_t begin = number * others;
        std::int32_t* const row = forest.row(point);
        for (int i = 0; i < row_length; ++i) {
            const std::int32_t index = indices[begin + i];
            row[i] = index >= 0 ? position_of[index] : -1;
        }
        const T core = min_samples > 1 ? distances[begin + min_samples - 2] : T(0);
        to.core[point] = core;
        to.of_index[forest.points.indices[point]] = core;
        to.frontier[point] = distances[begin + others - 1];
    }
};

/// Sorts the row of a point, which is by distance, by weight, and ends it at the frontier. Makes the point a component.
template <class T, int D>
struct WeighRows {
    DeviceForest<T, ReachabilityWeight<T>> forest;

    __device__ void operator()(std::int64_t position) const {
        const auto point = static_cast<std::int32_t>(position);
        std::int32_t* const row = forest.row(point);
        const T frontier = forest.weigh.frontier[point];
        WeighedNeighbor<T> edges[row_length];
#pragma unroll
        for (int i = 0; i < row_length; ++i) {
            edges[i] = {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity(),
                        std::numeric_limits<std::int32_t>::max(), point}; // none
            if (const std::int32_t other = row[i]; other >= 0) {
                const T squared = forest.template squared_distance<D>(point, other);
                const T weight = forest.weigh(point, other, squared);
                if (weight <= frontier) {
                    edges[i] = {weight, squared, forest.points.indices[other], other};
                }
            }
        }
#pragma unroll
        for (int pass = 0; pass < row_length; ++pass) {
#pragma unroll
            for (int i = pass % 2; i + 1 < row_length; i += 2) {
                sort(edges[i], edges[i + 1]);
            }
        }
#pragma unroll
        for (int i = 0; i < row_length; ++i) {
            row[i] = edges[i].point;
        }
        const bool has_one = edges[0].point != point;
        forest.next[point] = has_one ? 0 : row_length;
        forest.distance[point] = has_one ? edges[0].weight : frontier;
        forest.length[point] = edges[0].squared;
        forest.component[point] = point;
        forest.forget(point);
    }

private:
    __device__ static void sort(WeighedNeighbor<T>& a, WeighedNeighbor<T>& b) {
        const bool is_sorted = !(b < a);
        const WeighedNeighbor<T> first = a;
        a = either(is_sorted, a, b);
        b = either(is_sorted, b, first);
    }
    /// One of two, number by number: a choice between structures would keep both in memory.
    __device__ static WeighedNeighbor<T> either(bool first, const WeighedNeighbor<T>& a, const WeighedNeighbor<T>& b) {
        return {first ? a.weight : b.weight, first ? a.squared : b.squared, first ? a.index : b.index,
                first ? a.point : b.point};
    }
};

} // namespace kith::detail::inline KITH_GPU
