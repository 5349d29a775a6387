// Sums of pairs by slot, and how they become the result of a call.
#pragma once

#include <kith/pair_counts.hpp>

#include "pairs/edges.hpp"
#include "points/frame.hpp"
#include "support/int128.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

struct PairSums {
    std::vector<std::int64_t> counts; ///< by slot
    std::vector<Int128> weights;      ///< empty without weights

    PairSums(std::int64_t slots, bool weighted)
        : counts(static_cast<std::size_t>(slots)), weights(weighted ? counts.size() : 0) {}

    void add(const PairSums& other) {
        const auto add_each = [](auto& to, const auto& from) {
            std::transform(from.begin(), from.end(), to.begin(), to.begin(), [](auto a, auto b) { return a + b; });
        };
        add_each(counts, other.counts);
        add_each(weights, other.weights);
    }
};

/// Enters what is known before pairs are counted.
template <Coordinate T>
void describe(const Frame<T>& frame, std::span<const double> edges, const PairCountOptions& options,
              PairCounts& result) {
    result.edges = rounded_edges<T>(edges);
    result.second_edges = rounded_edges<T>(options.second_edges);
    if (options.binning != PairBinning::separation) {
        result.line_of_sight = options.line_of_sight >= 0 ? options.line_of_sight : frame.dimension - 1;
    }
    result.box = resolved_box(frame);
    result.wrapped_points = frame.outside;
}

/// Enters the sums; the weight of a pair is a whole number times 2^exponent.
inline void enter(const PairSums& sums, int exponent, PairCounts& result) {
    result.counts = bins_of(sums.counts, result.edges, result.second_edges);
    if (!sums.weights.empty()) {
        for (const Int128 sum : bins_of(sums.weights, result.edges, result.second_edges)) {
            result.weighted.push_back(std::ldexp(static_cast<double>(sum), exponent));
        }
    }
}

} // namespace kith::detail
