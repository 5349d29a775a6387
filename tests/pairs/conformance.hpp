// Pair counts compared with the oracle's.
#pragma once

#include "oracle/pair_counts.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/pair_counts.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::test {

/// The options of a call for bins and weights, which must outlive them.
inline PairCountOptions options_for(const oracle::PairBins& bins, const oracle::Weights& weights, const Box& box) {
    PairCountOptions options{.box = box, .binning = bins.binning, .second_edges = bins.second_edges};
    if (bins.binning != PairBinning::separation) {
        options.line_of_sight = bins.line_of_sight;
    }
    if (weights.first) {
        options.weights = *weights.first;
    }
    if (weights.second) {
        options.other_weights = *weights.second;
    }
    return options;
}

inline testing::AssertionResult same_pairs(const PairCounts& found, const oracle::PairTable& expected) {
    if (found.counts != expected.counts) {
        for (std::size_t bin = 0; bin < expected.counts.size(); ++bin) {
            if (bin >= found.counts.size() || found.counts[bin] != expected.counts[bin]) {
                return testing::AssertionFailure()
                       << "bin " << bin << " holds " << (bin < found.counts.size() ? found.counts[bin] : -1)
                       << " pairs instead of " << expected.counts[bin];
            }
        }
        return testing::AssertionFailure() << found.counts.size() << " bins instead of " << expected.counts.size();
    }
    if (found.weighted != expected.weighted) {
        return testing::AssertionFailure() << "weights differ";
    }
    if (found.vanished_weights != expected.vanished_weights) {
        return testing::AssertionFailure()
               << found.vanished_weights << " weights vanished instead of " << expected.vanished_weights;
    }
    return testing::AssertionSuccess();
}

} // namespace kith::test
