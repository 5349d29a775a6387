// The oracle's z-order against bits and levels worked out by hand.
#include "oracle/z_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace kith::oracle {
namespace {

TEST(ZOrder, MostSignificantDifference) {
    EXPECT_EQ(most_significant_difference(10.5625F, 5.6875F), 3); // 1010.1001 and 0101.1011
    EXPECT_EQ(most_significant_difference(5.0F, 4.0F), 0);        // 101 and 100
    EXPECT_EQ(most_significant_difference(0.75F, 0.5F), -2);
    EXPECT_EQ(most_significant_difference(-5.0F, -4.0F), 0);
    EXPECT_EQ(most_significant_difference(0.0F, 6.0F), 2);
    EXPECT_EQ(most_significant_difference(-1e-30F, 0.0F), 128);
    EXPECT_EQ(most_significant_difference(-1.0, 1.0), 1024);
    EXPECT_EQ(most_significant_difference(7.0, 7.0), no_bit);
    const float smallest = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(most_significant_difference(2 * smallest, 3 * smallest), -149);
    EXPECT_EQ(most_significant_difference(0.0F, smallest), -149);
    EXPECT_EQ(most_significant_difference(1.0F, 1.0F + 0x1p-23F), -23);
}

TEST(ZOrder, AGridFollowsTheCurve) {
    // The 4 x 4 grid, first axis more significant.
    std::vector<std::array<float, 2>> grid;
    for (int x = 3; x >= 0; --x) {
        for (int y = 3; y >= 0; --y) {
            grid.push_back({static_cast<float>(x), static_cast<float>(y)});
        }
    }
    std::sort(grid.begin(), grid.end(),
              [](const auto& p, const auto& q) { return comes_before(p.data(), q.data(), 2); });
    const std::vector<std::array<float, 2>> curve{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3},
                                                  {2, 0}, {2, 1}, {3, 0}, {3, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}};
    EXPECT_EQ(grid, curve);
}

TEST(ZOrder, SignsDecideFirstAndNegativesAscend) {
    const std::array<double, 2> low{100, -1};
    const std::array<double, 2> high{0, 1};
    EXPECT_TRUE(comes_before(low.data(), high.data(), 2)); // the sign of axis 1 outweighs the 100 of axis 0
    EXPECT_EQ(deciding_axis(low.data(), high.data(), 2), 1);
    const std::array<double, 2> deep{-5, 0};
    const std::array<double, 2> shallow{-4, 0};
    EXPECT_TRUE(comes_before(deep.data(), shallow.data(), 2));
    EXPECT_FALSE(comes_before(shallow.data(), deep.data(), 2));
}

TEST(ZOrder, EarlierAxisDecidesOnEquality) {
    const std::array<float, 3> p{0, 1, 1};
    const std::array<float, 3> q{1, 0, 0};
    EXPECT_EQ(deciding_axis(p.data(), q.data(), 3), 0);
    EXPECT_TRUE(comes_before(p.data(), q.data(), 3));
    EXPECT_FALSE(comes_before(p.data(), p.data(), 3));
    EXPECT_EQ(deciding_axis(p.data(), p.data(), 3), -1);
}

TEST(ZOrder, Levels) {
    const std::array<float, 3> origin{0, 0, 0};
    const std::array<float, 3> first{4, 0, 0};
    const std::array<float, 3> last{0, 0, 4};
    EXPECT_EQ(level(origin.data(), first.data(), 3), 9); // (2 + 1) * 3 - 0
    EXPECT_EQ(level(origin.data(), last.data(), 3), 7);
    EXPECT_EQ(level(origin.data(), origin.data(), 3), std::numeric_limits<std::int64_t>::min());
}

} // namespace
} // namespace kith::oracle
