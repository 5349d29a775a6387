// The oracle's motion, shape and concentration against values worked out by hand.
#include "oracle/halo_properties.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kith::oracle {
namespace {

double plummer(double r) {
    return plummer_kernel(r, 3);
}

TEST(HaloProperties, MotionIsAboutTheCenterOfMassWithTheHubbleFlow) {
    const std::vector<Body> pair{{{0, 0, 0}, {10, 0, 0}, 1, 0}, {{4, 0, 0}, {10, 8, 0}, 3, 0}};
    // Center 3, mean velocity (10, 6, 0); a = 1/2: offsets -3/2 and 1/2, times H = 4: flow -6 and 2.
    const Motion found = motion(pair, plummer, {.gravity = 10, .scale_factor = 0.5, .hubble = 4});
    EXPECT_EQ(found.velocity, (std::array<double, 3>{10, 6, 0}));
    const double squares = (36 + 36) * 0.25 + (4 + 4) * 0.75; // 24
    EXPECT_DOUBLE_EQ(found.dispersion, std::sqrt(squares / 3));
    EXPECT_EQ(found.spin, (std::array<double, 3>{0, 0, -1.5 * -6 * 0.25 + 0.5 * 2 * 0.75}));
    // Each has -m/5 of the other: -3/5 and -1/5.
    EXPECT_DOUBLE_EQ(found.energy, squares / 2 - 20 * (3.0 / 5 * 0.25 + 1.0 / 5 * 0.75) / 2);
    const Motion alike = motion({{{0, 0, 0}, {1, 0, 0}, 0, 0}, {{2, 0, 0}, {3, 0, 0}, 0, 0}}, plummer, {});
    EXPECT_EQ(alike.velocity[0], 2); // without masses, members count alike
    EXPECT_EQ(alike.energy, 0.5);
}

TEST(HaloProperties, SpinParametersAreThoseOfTheirPapers) {
    EXPECT_DOUBLE_EQ(peebles_parameter(3, -4, 2, {.gravity = 5}), 3 * 2 / (5.0 * 2)); // J = 6, |E| = 8
    EXPECT_TRUE(std::isnan(peebles_parameter(3, -4, 0, {})));
    Universe universe{.gravity = 1, .scale_factor = 1, .hubble = 1, .omega_matter = 1};
    const double density = virial_density(universe); // 18 pi^2 times 3/(8 pi)
    EXPECT_DOUBLE_EQ(density, 6.75 * std::numbers::pi);
    const double mass = 4 * std::numbers::pi / 3 * density * 8; // radius 2
    EXPECT_DOUBLE_EQ(bullock_parameter(1, mass, universe), 1 / (std::numbers::sqrt2 * 2 * std::sqrt(mass / 2)));
    universe.omega_matter = 0;
    EXPECT_TRUE(std::isnan(bullock_parameter(1, mass, universe)));
}

/// A lattice that fills an ellipsoid with axes turned by `angle` about z.
Shape shape_of_ellipsoid(const std::array<double, 3>& axes, double angle) {
    std::vector<std::array<double, 3>> offsets;
    constexpr int steps = 20;
    for (int i = -steps; i <= steps; ++i) {
        for (int j = -steps; j <= steps; ++j) {
            for (int k = -steps; k <= steps; ++k) {
                if (i * i + j * j + k * k <= steps * steps) {
                    const double x = axes[0] * i;
                    const double y = axes[1] * j;
                    offsets.push_back({x * std::cos(angle) - y * std::sin(angle),
                                       x * std::sin(angle) + y * std::cos(angle), axes[2] * k});
                }
            }
        }
    }
    return shape(offsets, std::vector(offsets.size(), 2.0), steps * std::cbrt(axes[0] * axes[1] * axes[2]));
}

TEST(HaloProperties, TheShapeOfAnEllipsoidIsItsAxes) {
    const Shape ball = shape_of_ellipsoid({1, 1, 1}, 0);
    EXPECT_NEAR(ball.c_to_a, 1, 1e-12);
    const Shape found = shape_of_ellipsoid({0.3, 1, 0.6}, 0.7);
    EXPECT_NEAR(found.b_to_a, 0.6, 0.02);
    EXPECT_NEAR(found.c_to_a, 0.3, 0.02);
    EXPECT_NEAR(found.major_axis[0], -std::sin(0.7), 0.01); // the component of largest absolute value is above 0
    EXPECT_NEAR(found.major_axis[1], std::cos(0.7), 0.01);
    EXPECT_NEAR(found.major_axis[2], 0, 0.01);
}

TEST(HaloProperties, ShapesNeedTwentyMembersOffTheCenter) {
    std::vector<std::array<double, 3>> offsets;
    for (int i = 1; i <= 19; ++i) {
        offsets.push_back({std::sin(i), std::cos(2 * i), std::sin(3 * i)});
    }
    offsets.push_back({0, 0, 0});
    EXPECT_TRUE(std::isnan(shape(offsets, std::vector(20, 1.0), 10).b_to_a));
    offsets.back() = {1, 1, 1};
    EXPECT_GT(shape(offsets, std::vector(20, 1.0), 10).b_to_a, 0);
    EXPECT_TRUE(std::isnan(shape(offsets, std::vector(20, 0.0), 10).b_to_a));
}

TEST(HaloProperties, TheMeanRadiusTakesTheLastMassHalfWay) {
    // Masses 2 at 1 and 3 at 2; up to 5/2 a half of the 4 between 2 and 3.
    const Shells shells{{3, 1, 2}, {4, 2, 3}};
    EXPECT_DOUBLE_EQ(mean_radius(shells, {2.5, 7}), (2 * 1 + 3 * 2 + 2 * 2.25) / 7 / 2.5);
    EXPECT_DOUBLE_EQ(mean_radius(shells, {4, 9}), (2 * 1 + 3 * 2 + 4 * 3) / 9.0 / 4); // of bound members alone
}

TEST(HaloProperties, ConcentrationsAreThoseOfTheProfile) {
    for (const double c : {1.01, 3.0, 8.0, 40.0, 999.0}) {
        const double mass = std::log(1 + c) - c / (1 + c);
        double moment = 0; // of the mass between many radii
        constexpr int steps = 100000;
        for (int i = 0; i < steps; ++i) {
            const double x = c * (i + 0.5) / steps;
            moment += x * x / ((1 + x) * (1 + x)) * c / steps;
        }
        EXPECT_NEAR(concentration_of_mean_radius(moment / c / mass), c, 1e-4 * c);
        double peak = mass / c;
        for (double x = 0.01; x < c; x += 0.01) {
            peak = std::max(peak, (std::log(1 + x) - x / (1 + x)) / x);
        }
        if (c > 2.2) {
            EXPECT_NEAR(concentration_of_peak(peak / (mass / c)), c, 1e-3 * c);
        }
    }
    for (const double ratio : {0.0, 0.16, 0.6, 1.0}) {
        EXPECT_TRUE(std::isnan(concentration_of_mean_radius(ratio)));
    }
    EXPECT_TRUE(std::isnan(concentration_of_peak(0.99)));
    EXPECT_TRUE(std::isnan(concentration_of_peak(40)));
}

} // namespace
} // namespace kith::oracle
