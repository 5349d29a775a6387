// The oracle's hierarchy against ones worked out by hand.
#include "oracle/hierarchy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kith::oracle {
namespace {

using Rows = std::vector<LinkageRow>;

template <class T>
Rows linkage_of(const std::vector<T>& points) {
    return linkage(spanning_tree(working_copy<T>(points, 2)));
}

TEST(Linkage, NumbersClustersInTheOrderOfMerges) {
    const std::vector<double> line{0, 0, 8, 0, 3, 0, 4, 0, 9, 0}; // edges 1-4, 2-3, 0-2, 1-3
    EXPECT_EQ(linkage_of(line), (Rows{{1, 4, 1, 2}, {2, 3, 1, 2}, {0, 6, 3, 3}, {5, 7, 4, 5}}));
}

TEST(Linkage, SettlesTiesByIndex) {
    const std::vector<float> square{0, 0, 1, 0, 1, 1, 0, 1}; // edges 0-1, 0-3, 1-2
    EXPECT_EQ(linkage_of(square), (Rows{{0, 1, 1, 2}, {3, 4, 1, 3}, {2, 5, 1, 4}}));
}

TEST(Linkage, OfOnePointHasNoRows) {
    EXPECT_TRUE(linkage_of(std::vector<float>{1, 2}).empty());
}

} // namespace
} // namespace kith::oracle
