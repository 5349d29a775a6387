// Lightness must rise evenly: that is what makes the map readable.
#include "cli/colour_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace {

using kith::cli::Colour;
using kith::cli::colour_at;
using kith::cli::lightness;

TEST(ColourMap, LightnessIsThatOfOklab) {
    EXPECT_NEAR(lightness({0, 0, 0}), 0, 1e-6);
    EXPECT_NEAR(lightness({1, 1, 1}), 1, 1e-4);
    EXPECT_NEAR(lightness({1, 0, 0}), 0.62796, 1e-4); // published: Ottosson's table of sRGB primaries
    EXPECT_NEAR(lightness({0, 0, 1}), 0.45201, 1e-4);
}

TEST(ColourMap, LightnessRisesLinearly) {
    for (int i = 0; i <= 256; ++i) {
        EXPECT_NEAR(lightness(colour_at(i / 256.0)), 0.13 + 0.85 * i / 256, 2e-3) << i;
    }
}

TEST(ColourMap, NeighboringColoursAreClose) {
    for (int i = 1; i <= 256; ++i) {
        const Colour a = colour_at((i - 1) / 256.0);
        const Colour b = colour_at(i / 256.0);
        for (const float step : {a.red - b.red, a.green - b.green, a.blue - b.blue}) {
            EXPECT_LT(std::abs(step), 8.0F / 255) << i;
        }
    }
}

TEST(ColourMap, ValuesOutsideAreClamped) {
    EXPECT_EQ(lightness(colour_at(-3)), lightness(colour_at(0)));
    EXPECT_EQ(lightness(colour_at(7)), lightness(colour_at(1)));
}

} // namespace
