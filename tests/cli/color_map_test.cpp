// Lightness must rise evenly: that is what makes the map readable.
#include "cli/color_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace {

using kith::cli::Color;
using kith::cli::color_at;
using kith::cli::lightness;

TEST(ColorMap, LightnessIsThatOfOklab) {
    EXPECT_NEAR(lightness({0, 0, 0}), 0, 1e-6);
    EXPECT_NEAR(lightness({1, 1, 1}), 1, 1e-4);
    EXPECT_NEAR(lightness({1, 0, 0}), 0.62796, 1e-4); // published: Ottosson's table of sRGB primaries
    EXPECT_NEAR(lightness({0, 0, 1}), 0.45201, 1e-4);
}

TEST(ColorMap, LightnessRisesLinearly) {
    for (int i = 0; i <= 256; ++i) {
        EXPECT_NEAR(lightness(color_at(i / 256.0)), 0.13 + 0.85 * i / 256, 2e-3) << i;
    }
}

TEST(ColorMap, NeighboringColorsAreClose) {
    for (int i = 1; i <= 256; ++i) {
        const Color a = color_at((i - 1) / 256.0);
        const Color b = color_at(i / 256.0);
        for (const float step : {a.red - b.red, a.green - b.green, a.blue - b.blue}) {
            EXPECT_LT(std::abs(step), 8.0F / 255) << i;
        }
    }
}

TEST(ColorMap, ValuesOutsideAreClamped) {
    EXPECT_EQ(lightness(color_at(-3)), lightness(color_at(0)));
    EXPECT_EQ(lightness(color_at(7)), lightness(color_at(1)));
}

} // namespace
