// Pair counts by visiting every pair and every bin. The contract is docs/semantics.md, "Pair counts". Cost: pairs times
// bins.
#pragma once

#include "oracle/working_copy.hpp"

#include <kith/pair_counts.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::oracle {

struct PairBins {
    PairBinning binning = PairBinning::separation;
    std::vector<double> edges = {};
    std::vector<double> second_edges = {};
    int line_of_sight = 0; ///< an axis
};

/// Weights of both sets; of the pairs of one set the first alone.
struct Weights {
    std::optional<std::vector<double>> first = {};
    std::optional<std::vector<double>> second = {};
};

struct PairTable {
    std::vector<std::int64_t> counts;
    std::vector<double> weighted;      ///< empty without weights
    std::vector<double> separations;   ///< means, weighted; empty if the last edge is infinite
    std::int64_t vanished_weights = 0; ///< 0 too if a set has no points
};

/// Of the pairs of one set.
template <class T>
PairTable pair_counts(const WorkingCopy<T>& points, const PairBins& bins, const Weights& weights = {});

/// Of every point with every one of another set, which is normalized.
template <class T>
PairTable pair_counts(const WorkingCopy<T>& points, const std::vector<T>& others, const PairBins& bins,
                      const Weights& weights = {});

} // namespace kith::oracle
