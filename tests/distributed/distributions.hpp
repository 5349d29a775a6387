// Ways to distribute the points of a set over ranks: contiguous parts of the set, since the order of the ranks' points
// is that of the set.
#pragma once

#include "support/point_sets.hpp"

#include <kith/distributed.hpp>
#include <kith/points.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {

inline constexpr int rank_counts[] = {1, 2, 3, 4, 5, 7, 8};

/// The options of a call, with its execution over ranks.
template <class Options>
Options over_ranks(Communicator& ranks, Options options, const RankOptions& rank_options = {}) {
    options.execution = over(ranks, options.execution, rank_options);
    return options;
}

/// The same points in the order of their first coordinate, so that ranks own slabs.
template <class T>
std::vector<T> along_the_first_axis(const std::vector<T>& points, int dimension) {
    std::vector<std::int64_t> order(points.size() / static_cast<std::size_t>(dimension));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {},
                             [&](std::int64_t i) { return points[static_cast<std::size_t>(i * dimension)]; });
    std::vector<T> sorted;
    for (const std::int64_t i : order) {
        sorted.insert(sorted.end(), points.begin() + i * dimension, points.begin() + (i + 1) * dimension);
    }
    return sorted;
}

/// Where the points of each rank start, and the number of all.
using RankFirsts = std::vector<std::int64_t>;

/// About as many on each rank.
inline RankFirsts evenly(std::int64_t count, int ranks) {
    RankFirsts firsts;
    for (int rank = 0; rank <= ranks; ++rank) {
        firsts.push_back(count * rank / ranks);
    }
    return firsts;
}

/// All on one rank.
inline RankFirsts all_on(int owner, std::int64_t count, int ranks) {
    RankFirsts firsts;
    for (int rank = 0; rank <= ranks; ++rank) {
        firsts.push_back(rank <= owner ? 0 : count);
    }
    return firsts;
}

/// One on rank 0, two on rank 1, none on rank 2, ..., the rest on the last.
inline RankFirsts unevenly(std::int64_t count, int ranks) {
    RankFirsts firsts{0};
    for (int rank = 0; rank < ranks; ++rank) {
        const std::int64_t mine = rank == ranks - 1 ? count : (rank + 1) % 3;
        firsts.push_back(std::min(count, firsts.back() + mine));
    }
    return firsts;
}

inline RankFirsts drawn_distribution(std::int64_t count, int ranks, Random& draw) {
    switch (draw.integer(4)) {
    case 0:
        return all_on(static_cast<int>(draw.integer(ranks)), count, ranks);
    case 1:
        return unevenly(count, ranks);
    default:
        return evenly(count, ranks);
    }
}

/// Some weight for each point of a rank.
inline std::vector<float> weights_for(std::int64_t count) {
    std::vector<float> weights;
    for (std::int64_t row = 0; row < count; ++row) {
        weights.push_back(static_cast<float>(row * row % 11));
    }
    return weights;
}

inline PointsView part_of(const PointsView& points, const RankFirsts& firsts, int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return points.subview(firsts[i], firsts[i + 1] - firsts[i]);
}

} // namespace kith::test
