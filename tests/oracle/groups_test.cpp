// The oracle's groups against partitions worked out by hand.
#include "oracle/groups.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kith::oracle {
namespace {

using Labels = std::vector<std::int32_t>;

// On a line: a pair {0, 3}, a single 1, a chain {2, 4, 5}, a pair {6, 7}.
const std::vector<double> line{0, 0, 10, 0, 20, 0, 1, 0, 21, 0, 22, 0, 30, 0, 31, 0};

TEST(Groups, AreNumberedBySizeThenSmallestMember) {
    const Groups found = groups(working_copy<double>(line, 2), 1.0);
    EXPECT_EQ(found.labels, (Labels{1, 3, 0, 1, 0, 0, 2, 2}));
    EXPECT_EQ(found.sizes, (Labels{3, 2, 2, 1}));
}

TEST(Groups, TheLinkingLengthIsInclusiveAndZeroLinksCoincidentPoints) {
    EXPECT_EQ(groups(working_copy<double>(line, 2), 0.999).sizes.size(), 8U);
    EXPECT_EQ(groups(working_copy<double>(line, 2), 9.0).labels, (Labels{1, 1, 0, 1, 0, 0, 0, 0})); // 10 - 1 = 9
    const std::vector<double> twins{5, 5, 1, 1, 5, 5};
    EXPECT_EQ(groups(working_copy<double>(twins, 2), 0.0).labels, (Labels{0, 1, 0}));
}

TEST(Groups, LinkAcrossAPeriodicEdge) {
    const std::vector<double> ends{0.25, 0, 31.75, 0, 16, 0};
    EXPECT_EQ(groups(working_copy<double>(ends, 2, Box::periodic({32.0, 0.0})), 0.5).labels, (Labels{0, 0, 1}));
    EXPECT_EQ(groups(working_copy<double>(ends, 2), 0.5).labels, (Labels{0, 1, 2}));
}

TEST(Groups, SecondariesJoinTheirNearestPrimaryAndTheMinimumCountsPrimaries) {
    // Primaries are rows 0 and 2, 5 to 7, and 4, which three others join. Row 1 is as near to 0 as to 2.
    const std::vector<double> xs{1, 0, -1, -3, 9, 20, 21, 22, -2, -1.5, 9, 9.5, 8.5};
    const std::vector<std::uint8_t> marks{0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    std::vector<double> points;
    for (const double x : xs) {
        points.insert(points.end(), {x, 7});
    }
    const Groups found = groups_with_secondaries<double>(points, 2, {}, marks, 2.0, 2);
    EXPECT_EQ(found.labels, (Labels{0, 0, 0, 0, -1, 1, 1, 1, 0, 0, -1, -1, -1}));
    EXPECT_EQ(found.sizes, (Labels{6, 3}));
    EXPECT_EQ(groups_with_secondaries<double>(points, 2, {}, marks, 1.0, 1).labels,
              (Labels{3, 3, 1, -1, 0, 2, 2, 2, 1, 1, 0, 0, 0}));
}

TEST(Groups, NoPointsMakeNoGroups) {
    const Groups found = groups(working_copy<double>(std::vector<double>{}, 2), 1.0);
    EXPECT_TRUE(found.labels.empty());
    EXPECT_TRUE(found.sizes.empty());
}

TEST(Groups, VolumesOfPeriodAndExtent) {
    const std::vector<float> points{1, 2, 4, -3};
    const Volume extent = volume<float>(points, 2, {});
    EXPECT_EQ(extent.value, 15.0);
    EXPECT_EQ(extent.kind, VolumeKind::extent);
    const Volume box = volume<float>(points, 2, Box::periodic({10.0, 20.0}));
    EXPECT_EQ(box.value, 200.0);
    EXPECT_EQ(box.kind, VolumeKind::box);
    const Volume mixed = volume<float>(points, 2, Box::periodic({0.0, 20.0}));
    EXPECT_EQ(mixed.value, 60.0);
    EXPECT_EQ(mixed.kind, VolumeKind::mixed);
}

} // namespace
} // namespace kith::oracle
