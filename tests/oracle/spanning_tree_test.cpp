// The oracle's spanning tree against trees worked out by hand.
#include "oracle/spanning_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace kith::oracle {
namespace {

using Ends = std::vector<std::pair<int, int>>;

template <class T>
Ends ends_of(const std::vector<TreeEdge<T>>& edges) {
    Ends ends;
    for (const TreeEdge<T>& edge : edges) {
        ends.emplace_back(edge.smaller, edge.larger);
    }
    return ends;
}

TEST(SpanningTree, ListsEdgesByLengthThenBySmallerAndLargerIndex) {
    const std::vector<double> line{0, 0, 8, 0, 3, 0, 4, 0, 9, 0}; // in order: 0, 2, 3, 1, 4
    const auto edges = spanning_tree(working_copy<double>(line, 2));
    EXPECT_EQ(ends_of(edges), (Ends{{1, 4}, {2, 3}, {0, 2}, {1, 3}}));
    EXPECT_EQ(edges[2].weight, 3.0);
    EXPECT_EQ(edges[2].height, 3.0);
}

TEST(SpanningTree, OfASquareLeavesOutTheLastSide) {
    const std::vector<float> square{0, 0, 1, 0, 1, 1, 0, 1};
    EXPECT_EQ(ends_of(spanning_tree(working_copy<float>(square, 2))), (Ends{{0, 1}, {0, 3}, {1, 2}}));
}

TEST(SpanningTree, JoinsCoincidentPointsToTheFirstOfThem) {
    const std::vector<float> points{1, 1, 5, 5, 1, 1, 1, 1};
    const auto edges = spanning_tree(working_copy<float>(points, 2));
    EXPECT_EQ(ends_of(edges), (Ends{{0, 2}, {0, 3}, {0, 1}}));
    EXPECT_EQ(edges[1].weight, 0.0F);
    EXPECT_EQ(edges[1].height, 0.0F);
}

TEST(SpanningTree, JoinsAcrossAPeriodicEdge) {
    const std::vector<double> ends{0.25, 0, 31.75, 0, 16, 0};
    const auto edges = spanning_tree(working_copy<double>(ends, 2, Box::periodic({32.0, 0.0})));
    EXPECT_EQ(ends_of(edges), (Ends{{0, 1}, {0, 2}}));
    EXPECT_EQ(edges[0].weight, 0.5);
}

// The height is the root rounded up where the rounded root is too short, and the smallest that joins in any case.
TEST(SpanningTree, HeightsAreTheSmallestLengthsThatJoin) {
    bool differ = false;
    for (int i = 1; i < 200; ++i) {
        const std::vector<float> points{0, 0, 1, static_cast<float>(i) / 64};
        const WorkingCopy<float> copy = working_copy<float>(points, 2);
        const TreeEdge<float> edge = spanning_tree(copy).front();
        const float squared = squared_distance(copy, copy.point(0), copy.point(1));
        EXPECT_GE(squared_radius<float>(copy, edge.height), squared);
        EXPECT_LT(squared_radius<float>(copy, std::nextafter(edge.height, 0.0F)), squared);
        differ = differ || edge.height != edge.weight;
    }
    EXPECT_TRUE(differ);
}

TEST(SpanningTree, HeightsWhereSquaresLoseTheirDigits) {
    const std::vector<float> points{0, 0, 1e-14F, 0, 1e30F, 0};
    const WorkingCopy<float> copy = working_copy<float>(points, 2);
    const auto edges = spanning_tree(copy);
    EXPECT_EQ(edges[0].height, 0.0F);                        // indistinguishable
    const std::vector<float> near{0, 0, 0x1p-112F, 0, 1, 0}; // its square is subnormal
    const WorkingCopy<float> other = working_copy<float>(near, 2);
    const float height = spanning_tree(other)[0].height;
    const float squared = squared_distance(other, other.point(0), other.point(1));
    EXPECT_LT(squared, std::numeric_limits<float>::min());
    EXPECT_GE(squared_radius<float>(other, height), squared);
    EXPECT_LT(squared_radius<float>(other, std::nextafter(height, 0.0F)), squared);
}

TEST(SpanningTree, OfOnePointOrNoneHasNoEdges) {
    EXPECT_TRUE(spanning_tree(working_copy<float>(std::vector<float>{}, 2)).empty());
    EXPECT_TRUE(spanning_tree(working_copy<float>(std::vector<float>{1, 2}, 2)).empty());
}

} // namespace
} // namespace kith::oracle
