// The oracle's pair counts against some worked out by hand.
#include "oracle/pair_counts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kith::oracle {
namespace {

using Counts = std::vector<std::int64_t>;

// On a line: 0, 0 again, 3, 5 (and 4 above it). Distances: 0; 3 3; 5 5 (with 4: root of 41 twice); 2 (root of 20); ...
const std::vector<double> points{0, 0, 0, 0, 3, 0, 5, 4};

TEST(PairCounts, EdgesAreOpenBelowAndClosedAbove) {
    const WorkingCopy<double> copy = working_copy<double>(points, 2);
    EXPECT_EQ(pair_counts(copy, {.edges = {0, 3, 7}}).counts, (Counts{3, 3})); // 0 3 3; root of 20, root of 41 twice
    EXPECT_EQ(pair_counts(copy, {.edges = {2.9, 3, 4.4, 7}}).counts, (Counts{2, 0, 3}));
    EXPECT_EQ(pair_counts(copy, {.edges = {3, 7}}).counts, Counts{3}); // beyond 3
    EXPECT_EQ(pair_counts(copy, {.edges = {0, 0, 3}}).counts, (Counts{1, 2}));
}

TEST(PairCounts, OfTwoSetsAreAllPairs) {
    const WorkingCopy<double> copy = working_copy<double>(points, 2);
    EXPECT_EQ(pair_counts(copy, copy.points, {.edges = {0, 0, 3, 7}}).counts, (Counts{6, 4, 6}));
}

TEST(PairCounts, AcrossAndAlong) {
    const WorkingCopy<double> copy = working_copy<double>(points, 2);
    // (rp, pi) with x across: (0, 0); (3, 0) twice; (5, 4) twice; (2, 4).
    EXPECT_EQ(
        pair_counts(copy,
                    {.binning = PairBinning::rp_pi, .edges = {0, 2, 5}, .second_edges = {0, 1, 4}, .line_of_sight = 1})
            .counts,
        (Counts{1, 1, 2, 2}));
    // mu of y: 0 at 0; 0 twice; 4 / root of 41 = 0.62 twice; 4 / root of 20 = 0.89.
    EXPECT_EQ(
        pair_counts(
            copy, {.binning = PairBinning::s_mu, .edges = {0, 9}, .second_edges = {0, 0.5, 0.7, 1}, .line_of_sight = 1})
            .counts,
        (Counts{3, 2, 1}));
    EXPECT_EQ(
        pair_counts(copy, {.binning = PairBinning::s_mu, .edges = {0, 9}, .second_edges = {0.1, 1}, .line_of_sight = 1})
            .counts,
        Counts{3});
}

TEST(PairCounts, WeightsMultiply) {
    const WorkingCopy<double> copy = working_copy<double>(points, 2);
    const PairTable found = pair_counts(copy, {.edges = {0, 3, 7}}, {.first = {{1, 2, 3, 1e-12}}});
    EXPECT_EQ(found.weighted, (std::vector<double>{2 + 3 + 6, 0}));
    EXPECT_EQ(found.counts, (Counts{3, 3}));
    EXPECT_EQ(found.vanished_weights, 1);
    EXPECT_EQ(pair_counts(copy, copy.points, {.edges = {0, 0}}, {.second = {{1, 0.5, 3, 4}}}).weighted,
              std::vector<double>{2 * 1.5 + 3 + 4});
}

TEST(PairCounts, SeparationsAreMeansByWeight) {
    const WorkingCopy<double> copy = working_copy<double>(points, 2);
    const PairTable found = pair_counts(copy, {.edges = {0, 3, 4.5, 7}});
    ASSERT_EQ(found.counts, (Counts{3, 1, 2}));
    EXPECT_EQ(found.separations[0], 2);                          // 0 3 3
    EXPECT_NEAR(found.separations[1], std::sqrt(20.0), 0x1p-48); // in units of 2^-50 of 8
    EXPECT_NEAR(found.separations[2], std::sqrt(41.0), 0x1p-48);
    EXPECT_EQ(pair_counts(copy, {.edges = {0, 3}}, {.first = {{1, 2, 3, 9}}}).separations[0],
              (1 * 2 * 0 + 3 * 3 + 6 * 3) / 11.0);
    EXPECT_TRUE(std::isnan(pair_counts(copy, {.edges = {1, 2}}).separations[0]));
    EXPECT_TRUE(std::isnan(pair_counts(copy, {.edges = {1, 3}}, {.first = {{0, 0, 3, 9}}}).separations[0]));
    // Across y: 0; 3 twice; 5 twice; 2.
    const PairTable across = pair_counts(
        copy, {.binning = PairBinning::rp_pi, .edges = {0, 5}, .second_edges = {0, 1, 4}, .line_of_sight = 1});
    EXPECT_EQ(across.separations, (std::vector<double>{2, 4}));
}

TEST(PairCounts, TakeTheNearestImage) {
    const std::vector<double> ends{0.25, 0, 31.75, 0};
    EXPECT_EQ(pair_counts(working_copy<double>(ends, 2, Box::periodic({32.0, 0.0})), {.edges = {0, 0.5, 99}}).counts,
              (Counts{1, 0}));
}

} // namespace
} // namespace kith::oracle
