// Which points a slice of a map holds.
#include "cli/map_slice.hpp"

#include "cli/usage_error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

TEST(MapSlices, HoldTheirLowerEdgeAndNotTheUpperOne) {
    const MapSlice slice{-1, 2};
    for (const auto& [z, is_held] : {std::pair(-1.5, false), {-1.0, true}, {0.0, true}, {1.999, true}, {2.0, false}}) {
        EXPECT_EQ(slice.holds(z, 0), is_held) << z;
    }
}

TEST(MapSlices, OfABoxHoldImages) {
    for (const double z : {-10.0, 0.0, 10.0, 30.0}) {
        EXPECT_TRUE((MapSlice{0, 1}.holds(z, 10))) << z;
        EXPECT_TRUE((MapSlice{9, 11}.holds(z, 10))) << z;
        EXPECT_FALSE((MapSlice{1, 10}.holds(z, 10))) << z;
        EXPECT_TRUE((MapSlice{-3, 50}.holds(z, 10))) << z;
    }
    for (int step = -40; step < 80; ++step) { // slices next to each other divide what is in the box and near it
        const double z = 0.3 * step + 0.05;
        int holding = 0;
        for (const auto& [lower, upper] : {std::pair(-2.0, 0.7), {0.7, 5.5}, {5.5, 8.0}}) {
            holding += MapSlice{lower, upper}.holds(z, 10) ? 1 : 0;
        }
        EXPECT_EQ(holding, 1) << z;
    }
}

TEST(MapSlices, CopyTwoCoordinatesAndMasses) {
    const std::vector<float> points{1, 2, 0.5F, 3, 4, 1.5F, 5, 6, 10.25F};
    const std::vector<double> masses{7, 8, 9};
    Particles particles;
    particles.positions = PointsView(points, 3);
    const SlicedParticles plain(particles, {0, 1}, 10);
    EXPECT_EQ(plain.positions().count(), 2);
    EXPECT_FALSE(plain.masses());
    particles.masses = ScalarsView(masses);
    const SlicedParticles slice(particles, {0, 1}, 10);
    ASSERT_EQ(slice.positions().count(), 2);
    EXPECT_EQ(slice.positions().dimension(), 2);
    EXPECT_EQ(slice.positions().coordinate(1, 0), 5);
    EXPECT_EQ(slice.positions().coordinate(1, 1), 6);
    EXPECT_EQ((*slice.masses())[0], 7);
    EXPECT_EQ((*slice.masses())[1], 9);
}

TEST(MapSlices, HoldPointsIfThereAreAny) {
    const std::vector<float> numbers{1, 2, -0.5F, 3, 4, 9.5F};
    const std::vector<float> none;
    const PointsView points(numbers, 3);
    EXPECT_EQ(count_in({0, 1}, points, 0), 0);
    EXPECT_EQ(count_in({-1, 0}, points, 0), 1);
    EXPECT_EQ(count_in({-1, 0}, points, 10), 2);
    const std::vector<float> strange{1, 2, std::numeric_limits<float>::quiet_NaN(), 1, 2, 5};
    EXPECT_EQ(count_in({0, 1}, PointsView(strange, 3), 0), 1); // the search refuses it
    // An image is below 0.35 with the period 0.3, not with that of float32.
    const std::vector<float> below{1, 2, 0.049999992F};
    EXPECT_EQ(count_in({0.25, 0.35}, PointsView(below, 3), 0.3), 0);
    EXPECT_NO_THROW(require_any_in({-1, 0}, 1, points));
    EXPECT_NO_THROW(require_any_in({-1, 0}, 0, PointsView(none, 3)));
    try {
        require_any_in({0, 1.25}, 0, points);
        ADD_FAILURE();
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(),
                     "--slice is 0:1.25, but no point has a third coordinate in that range: they are from "
                     "-0.5 to 9.5");
    }
}

TEST(MapSlices, AreTwoNumbers) {
    EXPECT_EQ(parse_slice("--slice", "-1.5:2e1").upper, 20);
    for (const char* text : {"1", "2:1", "1:1", "0:inf", "nan:1", "0:1:2", ":1", "0,1"}) {
        EXPECT_THROW((void)parse_slice("--slice", text), UsageError) << text;
    }
    EXPECT_NO_THROW(require_axis_of(MapSlice{0, 1}, 3));
    EXPECT_NO_THROW(require_axis_of(std::nullopt, 2));
    EXPECT_THROW(require_axis_of(MapSlice{0, 1}, 2), UsageError);
}

} // namespace
} // namespace kith::cli
