// The oracle's neighbors against rows worked out by hand.
#include "oracle/neighbors.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace kith::oracle {
namespace {

constexpr float missing = std::numeric_limits<float>::infinity(); // the distance of no neighbor
using Indices = std::vector<std::int64_t>;
using Distances = std::vector<float>;

// 0 at the origin, 1 at distance 3 and 4 from it, 2 and 3 coincident at (3, 4).
const std::vector<float> corner{0, 0, 3, 0, 3, 4, 3, 4};

Neighbors<float> corner_neighbors() {
    return Neighbors<float>(working_copy<float>(corner, 2));
}

TEST(Neighbors, AreOrderedByDistanceThenIndex) {
    const Rows<float> rows = corner_neighbors().rows(4);
    EXPECT_EQ(rows.indices, (Indices{0, 1, 2, 3, 1, 0, 2, 3, 2, 3, 1, 0, 2, 3, 1, 0}));
    EXPECT_EQ(rows.distances, (Distances{0, 3, 5, 5, 0, 3, 4, 4, 0, 0, 4, 5, 0, 0, 4, 5}));
}

TEST(Neighbors, SquaredDistancesAndMissingNeighbors) {
    const Rows<float> rows = corner_neighbors().rows(5, {.squared = true});
    EXPECT_EQ(Distances(rows.distances.begin(), rows.distances.begin() + 5), (Distances{0, 9, 25, 25, missing}));
    EXPECT_EQ(rows.indices[4], -1);
}

TEST(Neighbors, SelfIsExcludedByIndexNotByDistance) {
    const Rows<float> rows = corner_neighbors().rows(1, {.exclude_self = true});
    EXPECT_EQ(rows.indices, (Indices{1, 0, 3, 2}));
    EXPECT_EQ(rows.distances, (Distances{3, 3, 0, 0}));
}

TEST(Neighbors, LargestDistanceIsInclusive) {
    const Rows<float> rows = corner_neighbors().rows(2, {.exclude_self = true, .max_distance = 3});
    EXPECT_EQ(rows.indices, (Indices{1, -1, 0, -1, 3, -1, 2, -1}));
    EXPECT_EQ(rows.distances, (Distances{3, missing, 3, missing, 0, missing, 0, missing}));
}

TEST(Neighbors, PeriodicAxesTakeTheNearestImage) {
    const std::vector<float> line{0.125F, 0, 0.5F, 0, 0.875F, 0};
    const Rows<float> rows = Neighbors<float>(working_copy<float>(line, 2, Box::periodic({1.0, 0.0}))).rows(3);
    EXPECT_EQ(rows.indices, (Indices{0, 2, 1, 1, 0, 2, 2, 0, 1}));
    EXPECT_EQ(rows.distances, (Distances{0, 0.25F, 0.375F, 0, 0.375F, 0.375F, 0, 0.25F, 0.375F}));
}

TEST(Neighbors, SeparateQueries) {
    const std::vector<float> queries{3, 1, -1, 0};
    const Rows<float> rows = Neighbors<float>(working_copy<float>(corner, 2), queries).rows(2);
    EXPECT_EQ(rows.indices, (Indices{1, 2, 0, 1}));
    EXPECT_EQ(rows.distances, (Distances{1, 3, 1, 4}));
}

TEST(Neighbors, OneRowEqualsTheRowOfAll) {
    const WorkingCopy<float> copy = working_copy<float>(corner, 2);
    const Rows<float> row = Neighbors<float>::row(copy, 3, 2, {.exclude_self = true});
    EXPECT_EQ(row.indices, (Indices{2, 1}));
    EXPECT_EQ(row.distances, (Distances{0, 4}));
}

TEST(Neighbors, NoSourcesLeaveRowsEmptyOfNeighbors) {
    const std::vector<float> queries{3, 1};
    const Rows<float> rows = Neighbors<float>(working_copy<float>(std::vector<float>{}, 2), queries).rows(2);
    EXPECT_EQ(rows.indices, (Indices{-1, -1}));
    EXPECT_EQ(rows.distances, (Distances{missing, missing}));
}

} // namespace
} // namespace kith::oracle
