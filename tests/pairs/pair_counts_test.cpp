// Properties of pair counts that need no oracle, and counts of more points than it can visit.
#include "pairs/conformance.hpp"

#include <kith/radius.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

std::vector<double> logarithmic(double first, double last, int bins) {
    std::vector<double> edges;
    for (int k = 0; k <= bins; ++k) {
        edges.push_back(first * std::pow(last / first, static_cast<double>(k) / bins));
    }
    return edges;
}

/// Clumps in a thin background, in a box of 1.
template <class T>
std::vector<T> clumps(std::int64_t count, int dimension) {
    std::vector<T> points = uniform_points<T>(count / 2, dimension, 0, 1, 171);
    Random random(172);
    while (std::ssize(points) < count * dimension) {
        for (int axis = 0; axis < dimension; ++axis) {
            points.push_back(static_cast<T>(0.5 + 0.05 * random.normal()));
        }
    }
    return points;
}

class PairCountsOfMany : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = clumps<float>(sized(20000), 3);
    const PointsView view_{points_, 3};
    const Box box_ = Box::periodic(1);
    const std::vector<double> edges_ = logarithmic(0.002, 0.2, 15);
};

TEST_F(PairCountsOfMany, SumUpToTheCountsWithinTheRadius) {
    const PairCounts found = pair_counts(view_, edges_, {.box = box_});
    std::int64_t below = -1;
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < edges_.size(); ++k) {
        const RadiusCounts within = radius_count(view_, edges_[k], {.box = box_, .exclude_self = true});
        const std::int64_t pairs = std::accumulate(within.counts.begin(), within.counts.end(), std::int64_t{0}) / 2;
        sum += k > 0 ? found.counts[k - 1] : pairs;
        EXPECT_EQ(sum, pairs) << "up to edge " << edges_[k];
        EXPECT_GT(pairs, below);
        below = pairs;
    }
}

TEST_F(PairCountsOfMany, DoNotDependOnThreadsTreesOrTheOrderOfPoints) {
    const std::vector<double> mu{0, 0.25, 0.5, 0.75, 1};
    const PairCountOptions options{.box = box_, .binning = PairBinning::s_mu, .second_edges = mu, .execution = cpu(1)};
    const std::vector<std::int64_t> expected = pair_counts(view_, edges_, options).counts;
    PairCountOptions others = options;
    others.execution = cpu(3);
    EXPECT_EQ(pair_counts(view_, edges_, others).counts, expected);
    std::vector<float> reversed;
    for (std::int64_t i = view_.count() - 1; i >= 0; --i) {
        reversed.insert(reversed.end(), points_.begin() + i * 3, points_.begin() + i * 3 + 3);
    }
    EXPECT_EQ(pair_counts(PointsView(reversed, 3), edges_, options).counts, expected);
    // Over all mu, the counts of r.
    const PairCounts of_r = pair_counts(view_, edges_, {.box = box_});
    for (std::size_t k = 0; k + 1 < edges_.size(); ++k) {
        EXPECT_EQ(std::accumulate(expected.begin() + static_cast<std::int64_t>(4 * k),
                                  expected.begin() + static_cast<std::int64_t>(4 * k + 4), std::int64_t{0}),
                  of_r.counts[k]);
    }
}

TEST_F(PairCountsOfMany, OfASetWithItselfAreTwiceThoseWithinAndThePointsThemselves) {
    std::vector<double> edges = edges_;
    edges[0] = 0;
    const PairCounts within = pair_counts(view_, edges, {.box = box_});
    const PairCounts between = pair_counts(view_, view_, edges, {.box = box_});
    for (std::size_t k = 0; k < within.counts.size(); ++k) {
        EXPECT_EQ(between.counts[k], 2 * within.counts[k] + (k == 0 ? view_.count() : 0));
    }
}

TEST_F(PairCountsOfMany, OfEqualWeightsAreCounts) {
    const std::vector<double> twos(static_cast<std::size_t>(view_.count()), 2);
    const PairCounts found = pair_counts(view_, edges_, {.box = box_, .weights = twos});
    for (std::size_t k = 0; k < found.counts.size(); ++k) {
        EXPECT_EQ(found.weighted[k], 4 * static_cast<double>(found.counts[k]));
    }
    EXPECT_EQ(found.vanished_weights, 0);
}

TEST_F(PairCountsOfMany, SeparationsLieWithinTheirBinsAndChangeNoCount) {
    const PairCounts plain = pair_counts(view_, edges_, {.box = box_});
    const PairCounts found = pair_counts(view_, edges_, {.box = box_, .separations = true});
    EXPECT_TRUE(plain.separations.empty());
    EXPECT_EQ(found.counts, plain.counts);
    for (std::size_t k = 0; k < found.counts.size(); ++k) {
        EXPECT_GT(found.separations[k], found.edges[k]);
        EXPECT_LT(found.separations[k], found.edges[k + 1]);
    }
    PairCountOptions weighted{.box = box_, .separations = true};
    const std::vector<double> threes(static_cast<std::size_t>(view_.count()), 3);
    weighted.weights = threes;
    weighted.execution = cpu(3);
    EXPECT_EQ(pair_counts(view_, edges_, weighted).separations, found.separations); // equal weights cancel
}

TEST_F(PairCountsOfMany, SeparationsOfTheLargestWeightsDoNotOverflow) {
    // 8,000 coincident points beside as many at 0.5: 2^26 pairs of weights of nearly 2^62.
    std::vector<float> points(2 * 3 * 8192, 0.25F);
    for (std::size_t i = 0; i < points.size() / 2; i += 3) {
        points[i] = 0.75F;
    }
    const std::vector<double> weights(2 * 8192, 2147483647);
    const std::vector<double> edges{0.1, 0.5};
    const PairCounts found =
        pair_counts(PointsView(points, 3), edges, {.weights = weights, .separations = true, .execution = cpu(1)});
    EXPECT_EQ(found.counts[0], 8192LL * 8192);
    EXPECT_EQ(found.separations[0], 0.5);
}

TEST_F(PairCountsOfMany, OfCoincidentPointsAreAtZero) {
    const std::vector<float> same(3 * 5000, 0.25F);
    const std::vector<double> edges{0, 0.1, 0.2};
    const std::vector<double> weights(5000, 0.5);
    const PairCounts found =
        pair_counts(PointsView(same, 3), edges, {.box = box_, .weights = weights, .separations = true});
    EXPECT_EQ(found.counts, (std::vector<std::int64_t>{5000LL * 4999 / 2, 0}));
    EXPECT_EQ(found.weighted, (std::vector<double>{5000.0 * 4999 / 8, 0}));
    EXPECT_EQ(found.separations[0], 0);
    EXPECT_TRUE(std::isnan(found.separations[1]));
}

TEST_F(PairCountsOfMany, OfFewPoints) {
    const std::vector<double> edges{0, 1, 2};
    const std::vector<float> none;
    const std::vector<float> one{1, 2, 3};
    const std::vector<std::int64_t> zeros{0, 0};
    EXPECT_EQ(pair_counts(PointsView(none, 3), edges).counts, zeros);
    EXPECT_EQ(pair_counts(PointsView(one, 3), edges).counts, zeros);
    EXPECT_EQ(pair_counts(PointsView(one, 3), PointsView(none, 3), edges).counts, zeros);
    EXPECT_EQ(pair_counts(PointsView(none, 3), PointsView(one, 3), edges).counts, zeros);
    EXPECT_EQ(pair_counts(PointsView(one, 3), PointsView(one, 3), edges).counts, (std::vector<std::int64_t>{1, 0}));
}

TEST_F(PairCountsOfMany, DescribeTheCall) {
    const std::vector<double> edges{0.1, 0.2};
    const PairCounts found = pair_counts(Tree(view_, {.box = box_}), edges);
    EXPECT_EQ(found.box, Tree(view_, {.box = box_}).box());
    EXPECT_EQ(found.edges, (std::vector<double>{static_cast<double>(0.1F), static_cast<double>(0.2F)}));
    EXPECT_EQ(found.engine, Engine::tree);
    EXPECT_EQ(found.line_of_sight, -1);
    EXPECT_EQ(found.stages.back().name, "count");
}

} // namespace
} // namespace kith::test
