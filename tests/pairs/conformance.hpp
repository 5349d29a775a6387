// One suite of pair counts for the CPU and every device, held against the oracle, and what it draws.
//
// A program of tests supplies its backends; the suite (conformance_test.cpp) is compiled into each of them: test_pairs
// has the CPU's, test_emulation_device those of the emulated GPU, test_cuda those of a real one.
#pragma once

#include "oracle/pair_counts.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"
#include "support/thinned.hpp"

#include <kith/pair_counts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ios>
#include <optional>
#include <string>
#include <vector>

namespace kith::test {

/// What a backend is asked for; it must not outlive what it refers to.
struct PairRequest {
    PointsView points; ///< in memory of the host, row-major, as the others
    std::optional<PointsView> others;
    Box box;
    const oracle::PairBins& bins;
    const oracle::Weights& weights;
    bool separations = false;
};

/// One way to count: on a device, pairs of points or of a kept tree. What does not change the answer (threads, the shape
/// of a tree, the side on which points are) it draws.
struct PairBackend {
    std::string name;
    std::function<PairCounts(const PairRequest&, Random&)> count;
};

/// Those of this program.
std::vector<PairBackend> pair_backends();

/// How much of the suite this program has time for.
struct PairEffort {
    std::int64_t one_in = 1; ///< of all sets, boxes and binnings, drawn
    std::int64_t points = 400;
};
PairEffort pair_effort();

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
inline PairCountOptions options_for(const PairRequest& request) {
    PairCountOptions options = options_for(request.bins, request.weights, request.box);
    options.separations = request.separations;
    return options;
}

/// Whether to ask for separations: about every second time that they are defined.
template <class T>
bool wants_separations(const oracle::PairBins& bins, Random& draw) {
    return draw.integer(2) == 0 && std::isfinite(static_cast<T>(bins.edges.back()));
}

inline PairCounts counts_of(const PointsOrTree& points, const std::optional<PointsView>& others,
                            const PairRequest& request, const PairCountOptions& options) {
    return others ? pair_counts(points, *others, request.bins.edges, options)
                  : pair_counts(points, request.bins.edges, options);
}

inline testing::AssertionResult same_pairs(const PairCounts& found, const oracle::PairTable& expected,
                                           bool with_separations) {
    const std::size_t means = with_separations ? expected.counts.size() : 0;
    if (found.separations.size() != means) {
        return testing::AssertionFailure() << found.separations.size() << " separations instead of " << means;
    }
    for (std::size_t bin = 0; bin < means; ++bin) {
        const double mean = found.separations[bin];
        if (mean != expected.separations[bin] && !(std::isnan(mean) && std::isnan(expected.separations[bin]))) {
            return testing::AssertionFailure() << std::hexfloat << "the mean separation of bin " << bin << " is "
                                               << mean << " instead of " << expected.separations[bin];
        }
    }
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
