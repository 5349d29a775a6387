// The oracle's working copy against values worked out by hand: the power of two, wrapping, default origins, distances.
#include "oracle/working_copy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kith::oracle {
namespace {

WorkingCopy<float> copy_of(const std::vector<float>& points, int dimension, const Box& box = {}) {
    return working_copy<float>(points, dimension, box);
}

TEST(WorkingCopy, ScalesTheLargestCoordinateIntoTheTopBinade) {
    const WorkingCopy<float> copy = copy_of({1.0F, -3.0F, 0.5F, 0.0F}, 2);
    EXPECT_EQ(copy.exponent, 46); // 3 * 2^46 is in [2^47, 2^48)
    EXPECT_EQ(copy.points, (std::vector<float>{0x1p46F, -0x1.8p47F, 0x1p45F, 0.0F}));
    EXPECT_EQ(working_copy<double>(std::vector<double>{1, -3}, 2).exponent, 30); // into [2^31, 2^32)
}

TEST(WorkingCopy, ThePeriodCountsForTheScale) {
    const WorkingCopy<float> copy = copy_of({0.5F, 0.25F}, 2, Box::periodic({8.0, 0.0}));
    EXPECT_EQ(copy.exponent, 44);
    EXPECT_EQ(copy.period[0], 0x1p47F);
    EXPECT_EQ(copy.period[1], 0.0F);
}

TEST(WorkingCopy, SmallestSubnormalizScaledExactly) {
    const float smallest = std::numeric_limits<float>::denorm_min(); // 2^-149
    const WorkingCopy<float> copy = copy_of({smallest, 3 * smallest}, 2);
    EXPECT_EQ(copy.exponent, 47 + 148);
    EXPECT_EQ(copy.points, (std::vector<float>{0x1p46F, 0x1.8p47F}));
}

TEST(WorkingCopy, AllZeroDataIsNotScaledAndLosesItsSigns) {
    const WorkingCopy<float> copy = copy_of({-0.0F, 0.0F}, 2);
    EXPECT_EQ(copy.exponent, 0);
    EXPECT_FALSE(std::signbit(copy.points[0]));
    EXPECT_FALSE(std::signbit(copy.points[1]));
}

TEST(WorkingCopy, CoordinatesInsideTheBoxAreKeptBitForBit) {
    const WorkingCopy<float> copy = copy_of({0.0F, 1.0F, 0.75F, 0.1F}, 2, Box::periodic(1));
    EXPECT_EQ(copy.exponent, 47);
    EXPECT_EQ(copy.points, (std::vector<float>{0.0F, 0x1p47F, 0x1.8p46F, std::ldexp(0.1F, 47)}));
}

TEST(WorkingCopy, CoordinatesOutsideTheBoxAreWrapped) {
    const Box box = Box::periodic({4.0, 4.0}).with_origin(0, 0).with_origin(1, 1);
    const WorkingCopy<double> copy = working_copy<double>(std::vector<double>{5.0, 0.5, -1.0, 5.0, -4.0, 5.25}, 2, box);
    EXPECT_EQ(copy.exponent, 29); // the largest as given is 5.25
    const double unit = 0x1p29;
    EXPECT_EQ(copy.points, (std::vector<double>{1 * unit, 4.5 * unit, 3 * unit, 5 * unit, 0, 1.25 * unit}));
}

TEST(WorkingCopy, DefaultOriginsFollowTheData) {
    const Box box = Box::periodic(2);
    EXPECT_EQ(copy_of({0.0F, 2.0F}, 1, box).origin[0], 0.0F);
    EXPECT_EQ(copy_of({-1.0F, 1.0F}, 1, box).origin[0], -1.0F);
    EXPECT_EQ(copy_of({3.5F, 5.5F}, 1, box).origin[0], 3.5F);
    EXPECT_EQ(copy_of({-1.5F, 1.0F}, 1, box).origin[0], 0.0F); // extent above the period
    EXPECT_EQ(copy_of({-1.5F, 0.25F}, 1, box).origin[0], -1.5F);
    EXPECT_EQ(copy_of({}, 1, box).origin[0], 0.0F);
}

TEST(WorkingCopy, QueriesAreWrappedFromFarAndScaledLikeTheSources) {
    const WorkingCopy<float> copy = copy_of({0.0F, 0.0F, 1.0F, 1.0F}, 2, Box::periodic({1.0, 0.0}));
    EXPECT_EQ(normalized_queries<float>(copy, std::vector<float>{-1000.25F, 3.0F}),
              (std::vector<float>{0x1.8p46F, 0x1.8p48F}));
}

TEST(Distance, UsesTheNearestImageAndFusedSums) {
    const WorkingCopy<float> open = copy_of({0.0F, 0.0F, 3.0F, 4.0F}, 2);
    EXPECT_EQ(squared_distance(open, open.point(0), open.point(1)), std::ldexp(25.0F, 2 * open.exponent));
    const WorkingCopy<float> around = copy_of({0.0F, 0.0F, 3.0F, 4.0F}, 2, Box::periodic(4));
    EXPECT_EQ(squared_distance(around, around.point(0), around.point(1)), std::ldexp(1.0F, 2 * around.exponent));

    // Squares of (2^-12, 1 + 2^-12): fused, 2^-24 + (1 + 2^-11 + 2^-24) = 1 + 2^-11 + 2^-23 is exact; unfused, the
    // second square is rounded to 1 + 2^-11 first and the 2^-24 of the first axis is then lost too.
    const WorkingCopy<float> fused = copy_of({0.0F, 0.0F, 0x1p-12F, 1.0F + 0x1p-12F}, 2);
    EXPECT_EQ(squared_distance(fused, fused.point(0), fused.point(1)),
              std::ldexp(1.0F + 0x1p-11F + 0x1p-23F, 2 * fused.exponent));
}

TEST(Distance, RadiiAreRoundedToTheTypeOnce) {
    const WorkingCopy<float> copy = copy_of({1.0F}, 1);
    ASSERT_EQ(copy.exponent, 47);
    EXPECT_EQ(squared_radius(copy, 0.5), 0x1p92F);
    EXPECT_EQ(squared_radius(copy, 1 + 0x1p-30), 0x1p94F);
    EXPECT_EQ(squared_radius(copy, std::numeric_limits<double>::infinity()), std::numeric_limits<float>::infinity());
}

TEST(Unresolved, NeighborsApartWhoseSquaresLoseDigits) {
    const float far = 0x1p40F; // working units are 2^-7
    const WorkingCopy<float> copy = copy_of({0, 0, 0, 0x1.fp-71F, 0x1p-70F, 0, 0, 0, far, far}, 2);
    ASSERT_EQ(copy.exponent, 7);
    const auto unresolved = [&](std::int64_t i, std::int64_t j) {
        return is_unresolved(copy, copy.given.data() + 2 * i, copy.given.data() + 2 * j,
                             squared_distance(copy, copy.point(i), copy.point(j)));
    };
    EXPECT_TRUE(unresolved(0, 1));
    EXPECT_FALSE(unresolved(0, 2)); // its square is 2^-126
    EXPECT_FALSE(unresolved(0, 3)); // coincident
    EXPECT_FALSE(unresolved(0, 4));
}

TEST(Unresolved, BothEdgesOfAPeriodAreOnePlace) {
    const WorkingCopy<float> copy = copy_of({0, 0, 1, 0, 0x1p-120F, 0}, 2, Box::periodic(1));
    const auto unresolved = [&](std::int64_t i) {
        return is_unresolved(copy, copy.given.data(), copy.given.data() + 2 * i,
                             squared_distance(copy, copy.point(0), copy.point(i)));
    };
    EXPECT_FALSE(unresolved(1));
    EXPECT_TRUE(unresolved(2));
}

TEST(Unresolved, LengthsAreRefusedWhoseSquaresLoseDigits) {
    const WorkingCopy<float> copy = copy_of({1.0F, 1.0F}, 2);
    EXPECT_TRUE(is_refused(copy, 0x1.fp-111));
    EXPECT_FALSE(is_refused(copy, 0x1p-110));
    EXPECT_FALSE(is_refused(copy, 0));
    EXPECT_TRUE(is_refused(copy, 1e-300)); // 0 in float32
    EXPECT_FALSE(is_refused(copy_of({0.0F, 0.0F}, 2), 1e-30));
    EXPECT_TRUE(is_refused(copy_of({0.0F, 0.0F}, 2), 1e-30, true));
    EXPECT_FALSE(is_refused(copy_of({}, 2), 1e-30, true));
}

} // namespace
} // namespace kith::oracle
