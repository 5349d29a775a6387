// Pair counts compared with the oracle's, and what they are drawn from.
#pragma once

#include "oracle/pair_counts.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/pair_counts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::test {

/// A subset of at most `most` points: every n-th one, so that all kinds of points are among them.
template <class T>
PointSet<T> thinned(PointSet<T> set, std::int64_t most) {
    const std::int64_t step = (set.count() + most - 1) / most;
    if (step > 1) {
        std::vector<T> kept;
        for (std::int64_t i = 0; i < set.count(); i += step) {
            kept.insert(kept.end(), set.coordinates.begin() + i * set.dimension,
                        set.coordinates.begin() + (i + 1) * set.dimension);
        }
        set.coordinates = kept;
    }
    return set;
}

/// Edges among lengths that matter, some of them twice.
inline std::vector<double> edges_among(const std::vector<double>& lengths, Random& draw) {
    std::vector<double> edges;
    const std::int64_t count = 2 + draw.integer(6);
    for (std::int64_t k = 0; k < count; ++k) {
        edges.push_back(lengths[static_cast<std::size_t>(draw.integer(std::ssize(lengths)))]);
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

inline std::vector<double> some_weights(std::int64_t count, Random& draw) {
    std::vector<double> weights;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t kind = draw.integer(8);
        weights.push_back(kind == 0 ? 0 : kind == 1 ? 1e-11 : kind == 2 ? 3 : draw.uniform(0, 5));
    }
    return weights;
}

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
