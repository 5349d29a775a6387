// Pair counts as the driver and the kernels share them: edges in working units, trees with weights, and what a thread
// counts. The kernels are in pair_policy-inl.hpp, compiled for each instruction set and chosen at run time.
//
// Edges divide the pairs of an axis of bins into slots: slot k holds the pairs beyond limit k - 1 and within limit k;
// pairs beyond the last limit have none. Limits compare with squares: with d2, of (rp, pi) with rp2 and pi2, and of
// (s, mu) with d2, and as factors of d2 with pi2.
#pragma once

#include <kith/pair_counts.hpp>

#include "support/int128.hpp"
#include "support/int192.hpp"
#include "support/scratch_array.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::detail {

template <Coordinate T>
struct PairLimits {
    static constexpr std::int64_t padding = 16; ///< a whole vector of NaN behind the limits

    PairBinning binning = PairBinning::separation;
    std::array<int, max_dimension> axes{}; ///< all, the line of sight last
    std::int64_t first_count = 0;
    std::int64_t second_count = 0; ///< 0: pairs are binned by r
    std::vector<T> first;          ///< padded
    std::vector<T> second;         ///< padded
    /// Distances, of (rp, pi) those across, are summed as whole numbers of 1/this; none: they are not asked for.
    std::optional<double> separation_scale = {};

    [[nodiscard]] std::int64_t slots() const { return first_count * std::max<std::int64_t>(1, second_count); }
};

/// A tree and the weights of its points, whole numbers: none, or by position, with their sums by plane and node.
template <Coordinate T>
struct WeightedTree {
    const TreeView<T>* tree = nullptr;
    const std::uint32_t* weights = nullptr;
    std::array<const std::int64_t*, max_planes> sums{};

    /// Of the points of a node: their number without weights.
    [[nodiscard]] std::int64_t sum(int level, std::int64_t node) const {
        return weights != nullptr ? sums[level][node] : tree->planes[level].points_in(node);
    }
};

template <Coordinate T>
struct PairJob {
    WeightedTree<T> first;  ///< whose nodes are the tasks
    WeightedTree<T> second; ///< the same for the pairs of one set
    bool within = false;    ///< pairs of one set
    bool weighted = false;
    int dimension = 0;
    bool periodic = false; ///< on any axis
    PairLimits<T> limits;
};

/// What a thread has counted, by slot of the first axis, then of the second; and its memory.
template <Coordinate T>
struct PairScratch {
    std::vector<std::int64_t> counts;
    std::vector<Int128> weights;
    std::vector<std::int64_t> below;  ///< of a pair of leaves: pairs within a limit, by limit of both axes
    std::vector<Int128> weight_below; ///< their weights
    std::vector<Int192> separation_sums;
    std::vector<Int192> separation_below; ///< of a pair of leaves, as `below`

    ScratchArray<T> rows; ///< coordinates of the points of a leaf that are near another one, axis after axis
    ScratchArray<std::uint32_t> row_weights;
    ScratchArray<T> across;                 ///< squares that limits of the first axis compare with, column after column
    ScratchArray<T> along;                  ///< pi2
    ScratchArray<std::int64_t> separations; ///< roots of `across` as whole numbers
};

/// Counts the pairs of a node of the plane of the tasks: those within it and with later nodes, or with the other tree.
void count_pairs_of_node(const PairJob<float>& job, int plane, std::int64_t node, PairScratch<float>& scratch);
void count_pairs_of_node(const PairJob<double>& job, int plane, std::int64_t node, PairScratch<double>& scratch);

} // namespace kith::detail
