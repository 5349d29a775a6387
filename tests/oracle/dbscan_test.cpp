// The oracle's clusters against some worked out by hand.
#include "oracle/dbscan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kith::oracle {
namespace {

using Labels = std::vector<std::int32_t>;
using Flags = std::vector<std::uint8_t>;

// On a line: 10 11 12, and 0 1 2 3, in another order, and 7.
const std::vector<double> line{10, 0, 2, 0, 11, 0, 12, 0, 1, 0, 7, 0, 0, 0, 3, 0};

TEST(Dbscan, CountsThePointItselfAndNumbersByTheFirstCorePoint) {
    const Clusters found = dbscan(working_copy<double>(line, 2), 1.0, 3, false);
    EXPECT_EQ(found.is_core, (Flags{0, 1, 1, 0, 1, 0, 0, 0})); // 2, 11, 1
    EXPECT_EQ(found.labels, (Labels{1, 0, 1, 1, 0, -1, 0, 0}));
    EXPECT_EQ(found.sizes, (Labels{4, 3}));
    const Clusters star = dbscan(working_copy<double>(line, 2), 1.0, 3, true);
    EXPECT_EQ(star.labels, (Labels{-1, 0, 1, -1, 0, -1, -1, -1}));
    EXPECT_EQ(star.sizes, (Labels{2, 1}));
}

TEST(Dbscan, EpsIsInclusive) {
    EXPECT_EQ(dbscan(working_copy<double>(line, 2), 0.999, 2, false).sizes, Labels{});
    EXPECT_EQ(dbscan(working_copy<double>(line, 2), 4.0, 2, false).labels, Labels(8, 0)); // 3 to 7 is 4
}

// The point at 0 is within reach of -1 and of 1; of these 1 has the lower index, but -1 is of the cluster found first.
TEST(Dbscan, ABorderPointBelongsToTheLowestNumberedCluster) {
    const std::vector<double> points{-2, 0, 1, 0, -1, 0, 0, 0, -2, 0, -2, 0, 2, 0, 2, 0, 2, 0};
    const Clusters found = dbscan(working_copy<double>(points, 2), 1.0, 4, false);
    EXPECT_EQ(found.is_core, (Flags{1, 1, 1, 0, 1, 1, 1, 1, 1}));
    EXPECT_EQ(found.labels, (Labels{0, 1, 0, 0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(found.sizes, (Labels{5, 4}));
}

TEST(Dbscan, AcrossAPeriodicEdge) {
    const std::vector<double> ends{0.25, 0, 31.75, 0, 16, 0};
    EXPECT_EQ(dbscan(working_copy<double>(ends, 2, Box::periodic({32.0, 0.0})), 0.5, 2, false).labels,
              (Labels{0, 0, -1}));
    EXPECT_EQ(dbscan(working_copy<double>(ends, 2), 0.5, 2, false).labels, (Labels{-1, -1, -1}));
}

TEST(Dbscan, NoPointsMakeNoClusters) {
    EXPECT_TRUE(dbscan(working_copy<double>(std::vector<double>{}, 2), 1.0, 1, false).sizes.empty());
}

} // namespace
} // namespace kith::oracle
