// The oracle's HDBSCAN* against clusters worked out by hand.
#include "oracle/hdbscan.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace kith::oracle {
namespace {

/// Points of two dimensions on a line.
DensityClusters<double> of_line(const std::vector<double>& line, const DensityRequest& request) {
    std::vector<double> points;
    for (const double x : line) {
        points.insert(points.end(), {x, 0});
    }
    return hdbscan(working_copy<double>(points, 2), request);
}

const std::vector<double> two_runs{0, 1, 2, 10, 11, 12, 13, 40};

TEST(Hdbscan, WeighsEdgesByCoreDistances) {
    const auto found = of_line({0, 1, 3, 7}, {.min_samples = 3, .min_cluster_size = 2});
    EXPECT_EQ(found.core_distances, (std::vector<double>{3, 2, 3, 6}));
    const std::vector<TreeEdge<double>> edges{{0, 1, 3, 3}, {1, 2, 3, 3}, {2, 3, 6, 6}};
    EXPECT_EQ(found.edges, edges);
}

TEST(Hdbscan, CondensesSelectsAndLabels) {
    const auto found = of_line(two_runs, {.min_samples = 1, .min_cluster_size = 3});
    ASSERT_EQ(found.clusters.size(), 3U);
    EXPECT_EQ(found.clusters[0], (DensityCluster{-1, 8, -1, 0, 1.0 / 8, found.clusters[0].stability}));
    EXPECT_DOUBLE_EQ(found.clusters[0].stability, 1.0 / 27 + 7.0 / 8);
    EXPECT_EQ(found.clusters[1], (DensityCluster{0, 3, 0, 1.0 / 8, 1, 3 * (1 - 1.0 / 8)}));
    EXPECT_EQ(found.clusters[2], (DensityCluster{0, 4, 1, 1.0 / 8, 1, 4 * (1 - 1.0 / 8)}));
    EXPECT_EQ(found.labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 1, -1}));
    EXPECT_EQ(found.probabilities, (std::vector<double>{1, 1, 1, 1, 1, 1, 1, 0}));
    EXPECT_EQ(found.outlier_scores, (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 1 - 1.0 / 27}));
}

TEST(Hdbscan, EpsilonAndSizesChangeTheSelection) {
    const std::vector<std::int32_t> noise(8, -1);
    const DensityRequest plain{.min_samples = 1, .min_cluster_size = 3};
    DensityRequest merged = plain;
    merged.epsilon = 9; // the runs are born at 8, below it
    EXPECT_EQ(of_line(two_runs, merged).labels, of_line(two_runs, plain).labels);
    merged.allow_single_cluster = true;
    EXPECT_EQ(of_line(two_runs, merged).labels, (std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 0, -1}));
    DensityRequest small = plain;
    small.max_cluster_size = 3;
    EXPECT_EQ(of_line(two_runs, small).labels, (std::vector<std::int32_t>{0, 0, 0, -1, -1, -1, -1, -1}));
    DensityRequest large = plain;
    large.min_cluster_size = 4; // the root loses the points of the first run, and goes on
    EXPECT_EQ(of_line(two_runs, large).labels, noise);
    large.allow_single_cluster = true;
    EXPECT_EQ(of_line(two_runs, large).labels, (std::vector<std::int32_t>{-1, -1, -1, 0, 0, 0, 0, -1}));
}

TEST(Hdbscan, LeavesAreSelectedWhateverTheirStability) {
    // Both fours are more stable than their pairs.
    const std::vector<double> line{0, 0.5, 1.4, 1.9, 100, 101, 102.9, 103.9};
    const DensityRequest request{.min_samples = 1, .min_cluster_size = 2};
    EXPECT_EQ(of_line(line, request).labels, (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
    DensityRequest leaves = request;
    leaves.by_leaves = true;
    EXPECT_EQ(of_line(line, leaves).labels, (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Hdbscan, CoincidentPointsAreTheDensest) {
    const auto found = of_line({5, 5, 5, 0, 1, 2}, {.min_samples = 2, .min_cluster_size = 3});
    ASSERT_EQ(found.clusters.size(), 3U);
    EXPECT_EQ(found.clusters[1].death + found.clusters[2].death, std::numeric_limits<double>::max());
    EXPECT_EQ(found.labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(found.lambdas[0], std::numeric_limits<double>::max());
    EXPECT_EQ(found.outlier_scores[0], 0);
}

TEST(Hdbscan, FewerPointsThanSamplesAreNoise) {
    const auto found = of_line({0, 1, 2}, {.min_samples = 4, .min_cluster_size = 2});
    EXPECT_EQ(found.core_distances, std::vector<double>(3, std::numeric_limits<double>::infinity()));
    EXPECT_EQ(found.labels, std::vector<std::int32_t>(3, -1));
    EXPECT_EQ(of_line({0}, {.min_samples = 1, .min_cluster_size = 2}).clusters.size(), 1U);
    EXPECT_TRUE(of_line({}, {}).clusters.empty());
}

// Runs born at 1/8 of the root, of spacing 1: new points inside them, beside them, between them and far away.
TEST(Hdbscan, NewPointsJoinTheirNeighborsAtTheirDensity) {
    const DensityRequest request{.min_samples = 1, .min_cluster_size = 3};
    std::vector<double> points;
    for (const double x : two_runs) {
        points.insert(points.end(), {x, 0});
    }
    const WorkingCopy<double> copy = working_copy<double>(points, 2);
    const std::vector<double> queries =
        normalized_queries<double>(copy, std::vector<double>{2.5, 0, 9, 0, 6, 0, 18, 0, 30, 0});
    const Predictions<double> found = predict(copy, hdbscan(copy, request), request, queries);
    EXPECT_EQ(found.neighbors, (std::vector<std::int32_t>{2, 3, 2, 6, 7}));
    EXPECT_EQ(found.distances, (std::vector<double>{0.5, 1, 4, 5, 10}));
    EXPECT_EQ(found.labels, (std::vector<std::int32_t>{0, 1, 0, 1, -1}));
    EXPECT_EQ(found.probabilities, (std::vector<double>{1, 1, 0.25, 0.2, 0}));
    DensityRequest smooth = request;
    smooth.min_samples = 3; // core distances are 2, 1, 2 and 2, 1, 1, 2 in the runs, and 28
    const Predictions<double> farther = predict(copy, hdbscan(copy, smooth), smooth, queries);
    EXPECT_EQ(farther.neighbors, (std::vector<std::int32_t>{1, 3, 2, 6, 6}));
    EXPECT_EQ(farther.distances, (std::vector<double>{1.5, 2, 4, 6, 17}));
}

} // namespace
} // namespace kith::oracle
