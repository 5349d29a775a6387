// Sums of pairs by slot, and how they become the result of a call.
#pragma once

#include <kith/pair_counts.hpp>

#include "pairs/edges.hpp"
#include "pairs/pair_job.hpp"
#include "pairs/separations.hpp"
#include "points/frame.hpp"
#include "support/int128.hpp"
#include "support/int192.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

struct PairSums {
    std::vector<std::int64_t> counts; ///< by slot
    std::vector<Int128> weights;      ///< empty without weights
    std::vector<Int192> separations;  ///< times weights, in their unit (separations.hpp); empty if not asked for

    template <Coordinate T>
    PairSums(const PairLimits<T>& limits, bool weighted)
        : counts(static_cast<std::size_t>(limits.slots())), weights(weighted ? counts.size() : 0),
          separations(limits.separation_scale ? counts.size() : 0) {}

    void add(const PairSums& other) { add(other.counts, other.weights, other.separations); }
    void add(const std::vector<std::int64_t>& more_counts, const std::vector<Int128>& more_weights,
             const std::vector<Int192>& more_separations) {
        const auto add_each = [](auto& to, const auto& from) {
            std::transform(from.begin(), from.end(), to.begin(), to.begin(), [](auto a, auto b) { return a + b; });
        };
        add_each(counts, more_counts);
        add_each(weights, more_weights);
        add_each(separations, more_separations);
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
    const auto in_bins = [&](const auto& slots) { return bins_of(slots, result.edges, result.second_edges); };
    result.counts = in_bins(sums.counts);
    const std::vector<Int128> weights =
        in_bins(sums.weights.empty() ? std::vector<Int128>(sums.counts.begin(), sums.counts.end()) : sums.weights);
    if (!sums.weights.empty()) {
        for (const Int128 sum : weights) {
            result.weighted.push_back(std::ldexp(static_cast<double>(sum), exponent));
        }
    }
    if (!sums.separations.empty()) {
        const std::vector<Int192> separations = in_bins(sums.separations);
        for (std::size_t bin = 0; bin < separations.size(); ++bin) {
            result.separations.push_back(
                mean_separation(separations[bin], weights[bin], separation_exponent(result.edges.back())));
        }
    }
}

} // namespace kith::detail
