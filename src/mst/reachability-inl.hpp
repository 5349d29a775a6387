// The rows and edges of a spanning tree by mutual reachability distances, where they measure distances.
//
// The row of a point lists its nearest others by (squared distance, index). All points outside it weigh no less than
// its frontier, the larger of the point's core distance and the last distance of the search. So of those in the row the
// ones that weigh no more are the point's least edges, in the order (weight, distance, index); what weighs more than
// the frontier is no answer, since a point outside may come before it.

#include "mst/forest.hpp"
#include "mst/forest_steps-inl.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#if defined(KITH_REACHABILITY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_REACHABILITY_INL_HPP
#undef KITH_REACHABILITY_INL_HPP
#else
#define KITH_REACHABILITY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
void weigh_rows_of(const Forest<T, ReachabilityWeight<T>>& forest, std::int64_t begin, std::int64_t end) {
    const std::int32_t* const index = forest.tree->points.indices;
    for (auto point = static_cast<std::int32_t>(begin); point < end; ++point) {
        std::int32_t* const row = forest.rows + std::int64_t{point} * row_length;
        std::array<WeighedNeighbor<T>, row_length> known;
        int count = 0;
        for (int i = 0; i < row_length && row[i] >= 0; ++i) {
            const T squared = squared_distance(forest, point, row[i]);
            const T weight = forest.weigh(point, row[i], squared);
            if (weight <= forest.weigh.frontier[point]) {
                known[count++] = {weight, squared, index[row[i]], row[i]};
            }
        }
        std::sort(known.begin(), known.begin() + count);
        for (int i = 0; i < row_length; ++i) {
            row[i] = i < count ? known[i].point : point;
        }
        forest.distance[point] = count > 0 ? known[0].weight : forest.weigh.frontier[point];
    }
}

template <class T>
void measure_edges_of(const Forest<T, ReachabilityWeight<T>>& forest, WeighedEdge<T>* edges, std::int64_t begin,
                      std::int64_t end) {
    const std::int32_t* const index = forest.tree->points.indices;
    for (std::int64_t i = begin; i < end; ++i) {
        const auto [point, other] = edges[i].ends;
        edges[i].squared = squared_distance(forest, point, other);
        edges[i].ends = {std::min(index[point], index[other]), std::max(index[point], index[other])};
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
