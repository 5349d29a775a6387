// The oracle's potentials, bound members and spherical masses against values worked out by hand.
#include "oracle/bound_halos.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace kith::oracle {
namespace {

Kernel spline(double softening) {
    return [softening](double r) { return spline_kernel(r, softening); };
}

Kernel plummer(double softening) {
    return [softening](double r) { return plummer_kernel(r, softening); };
}

TEST(BoundHalos, SoftenedPotentialsJoinTheirPartsAndEndAsPointMasses) {
    constexpr double softening = 0.5;
    constexpr double h = 2.8 * softening;
    EXPECT_DOUBLE_EQ(spline_kernel(0, softening), 1 / softening); // the depth of Plummer's
    EXPECT_DOUBLE_EQ(plummer_kernel(0, softening), 1 / softening);
    EXPECT_EQ(spline_kernel(h, softening), 1 / h);
    for (const double edge : {h / 2, h}) {
        const double inside = std::nextafter(edge, 0);
        EXPECT_NEAR(spline_kernel(inside, softening), spline_kernel(edge, softening), 1e-14);
        const auto slope = [&](double from, double to) {
            return (spline_kernel(to, softening) - spline_kernel(from, softening)) / (to - from);
        };
        EXPECT_NEAR(slope(edge - 1e-5, edge), slope(edge, edge + 1e-5), 1e-4);
    }
}

TEST(BoundHalos, ThePotentialOfABodyLeavesOutItsOwnMass) {
    const std::vector<Body> pair{{{0, 0, 0}, {}, 3, 0}, {{0, 4, 0}, {}, 2, 0}};
    EXPECT_EQ(potentials(pair, spline(1)), (std::vector<double>{-0.5, -0.75}));
    EXPECT_DOUBLE_EQ(potentials(pair, plummer(3))[0], -2.0 / 5);
    EXPECT_DOUBLE_EQ(potentials(pair, plummer(3))[1], -3.0 / 5);
    EXPECT_EQ(potentials({pair[0]}, spline(1)), std::vector<double>{0});
}

TEST(BoundHalos, EnergiesAreAboutCenterAndMeanVelocityWithTheHubbleFlow) {
    const std::vector<Body> pair{{{10, 0, 0}, {101, 0, 0}, 3, 0}, {{14, 0, 0}, {105, 0, 0}, 1, 0.25}};
    // Center 11 and velocity 102; H a = 6, so that dv + H a dx is -1 - 6 and 3 + 18; G / a = 4.
    const Universe universe{.gravity = 2, .scale_factor = 0.5, .hubble = 12};
    EXPECT_EQ(binding_energies(pair, spline(0.1), universe),
              (std::vector<double>{24.5 - 4 * 0.25, 220.5 - 4 * 0.75 + 0.25}));
}

TEST(BoundHalos, TheLeastBoundLeaveFirstUntilAllThatIsLeftIsBound) {
    std::vector<Body> bodies;
    for (int i = 0; i < 8; ++i) { // the corners of a cube, at rest
        bodies.push_back({{1.0 * (i & 1), 1.0 * (i >> 1 & 1), 1.0 * (i >> 2)}, {}, 1, 0});
    }
    bodies.push_back({{0.5, 0.5, 0.5}, {100, 0, 0}, 1, 0});
    bodies.push_back({{0.5, 0.5, 1.5}, {-90, 0, 0}, 1, 0});
    const BoundMembers bound = unbind(bodies, plummer(0.1), {}, 8);
    EXPECT_EQ(bound.members, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7})); // ties by index
    EXPECT_LT(bound.energies.back(), 0);
    EXPECT_EQ(bound.deepest, 0); // all corners are alike
    bodies[5].position = {0.5, 0.5, 0.5};
    EXPECT_EQ(unbind(bodies, plummer(0.1), {}, 8).deepest, 5);
    EXPECT_TRUE(unbind(bodies, plummer(0.1), {}, 9).members.empty());
}

TEST(BoundHalos, AtMostFiveOrTwoPercentLeaveAtATime) {
    // Five fly apart and give the mean a velocity of 30/7, at which the pair at rest seems unbound as well, but less.
    std::vector<Body> bodies;
    for (const double speed : {100.0, -100.0, 90.0, -90.0, 30.0}) {
        bodies.push_back({{10 * speed, 0, 0}, {speed, 0, 0}, 1, 0});
    }
    bodies.push_back({{0, 0, 0}, {}, 1, 0});
    bodies.push_back({{1, 0, 0}, {}, 1, 0});
    for (const double energy : binding_energies(bodies, spline(0.1), {})) {
        EXPECT_GT(energy, 0);
    }
    EXPECT_EQ(unbind(bodies, spline(0.1), {}, 2).members, (std::vector<std::int64_t>{5, 6}));
}

/// A uniform sphere of radius 1 and mass 1, in units with G = 1, that moves with a multiple of -H dx.
std::size_t left_of_sphere(double density_in_critical, double flow) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    constexpr std::size_t count = 200;
    // rho_c = 3 H^2 / (8 pi), so that the density is 2 / H^2 critical ones.
    const double hubble = std::sqrt(2 / density_in_critical);
    std::vector<Body> bodies;
    while (bodies.size() < count) {
        const std::array<double, 3> x{uniform(random), uniform(random), uniform(random)};
        if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < 1) {
            bodies.push_back({x, {flow * hubble * x[0], flow * hubble * x[1], flow * hubble * x[2]}, 1.0 / count, 0});
        }
    }
    return unbind(bodies, spline(0.02), {.gravity = 1, .scale_factor = 1, .hubble = hubble}, 20).members.size();
}

TEST(BoundHalos, TheHubbleFlowIsAddedWithItsSign) {
    for (const double density : {0.5, 2.0}) {
        EXPECT_EQ(left_of_sphere(density, -1), 200U) << density;
        EXPECT_LE(left_of_sphere(density, 1), 10U) << density;
    }
    EXPECT_LE(left_of_sphere(0.5, 0), 10U);
    EXPECT_EQ(left_of_sphere(2, 0), 200U);
}

constexpr double ball = 4 * std::numbers::pi / 3;

TEST(BoundHalos, OverdensitiesAreCrossedOnALineBetweenTwoRadii) {
    // Mass 1 at the center, then 8 up to 2, nothing up to 10.
    const Shells shells{{0, 2, 10}, {1, 7, 0}};
    const Sphere found = first_overdensity(shells, 1 / ball); // R^3 = 8 on the level part
    EXPECT_NEAR(found.radius, 2, 1e-15);
    EXPECT_NEAR(found.mass, 8, 1e-14);
    // Twice as dense: 2 R^3 = 1 + 3.5 R.
    const double density = 2 / ball;
    const Sphere inner = first_overdensity(shells, density);
    EXPECT_NEAR(2 * std::pow(inner.radius, 3), 1 + 3.5 * inner.radius, 1e-13);
    EXPECT_DOUBLE_EQ(inner.mass, ball * density * std::pow(inner.radius, 3));
}

TEST(BoundHalos, AFirstParticleThatIsBelowHasMassInProportionToItsRadius) {
    const Sphere found = first_overdensity({{2, 3}, {1, 1}}, 1);
    EXPECT_NEAR(found.radius, std::sqrt(3 * 1 / (4 * std::numbers::pi * 2)), 1e-15);
}

TEST(BoundHalos, TheFirstCrossingIsNotTheOutermost) {
    const Shells shells{{1, 4, 5, 20}, {8, 0, 300, 0}}; // density over a ball's: 8, 1/8, 2.46, 0.04
    EXPECT_LT(first_overdensity(shells, 1 / ball).radius, 4);
    EXPECT_NEAR(outermost_overdensity(shells, 1 / ball).radius, std::cbrt(308), 1e-13);
    EXPECT_EQ(first_overdensity(shells, 0.001 / ball).radius, 0); // never crossed
    EXPECT_EQ(outermost_overdensity(shells, 0.001 / ball).radius, 0);
    EXPECT_EQ(outermost_overdensity({{1, 4, 5}, {8, 0, 300}}, 1 / ball).radius, 0); // not below at the end
    EXPECT_NEAR(outermost_overdensity({{1, 4, 5}, {8, 0, 300}}, 1 / ball, true).radius, std::cbrt(308), 1e-13);
    EXPECT_NEAR(first_overdensity({{1, 2}, {8, 0}}, 1 / ball, true).mass, 8, 1e-13);
    EXPECT_LT(first_overdensity({{1, 4}, {8, 0}}, 1 / ball, true).radius, 4);
}

TEST(BoundHalos, TheCircularVelocityPeaksOutsideTheLeastRadius) {
    const Shells shells{{0.1, 2, 4}, {1, 3, 2}};
    const auto peak = [&](double least_radius) { return largest_circular_velocity(shells, least_radius, 0, 10); };
    EXPECT_EQ(peak(0).radius, 0.1);
    EXPECT_EQ(peak(0.5).radius, 0.5);
    EXPECT_EQ(peak(0.5).squared_velocity, 2);
    EXPECT_EQ(peak(0.75).radius, 2);
    EXPECT_EQ(peak(0.75).squared_velocity, 2);
}

TEST(BoundHalos, TheCircularVelocityPeaksBeforeADensityIsCrossed) {
    const Shells shells{{1, 2, 4}, {8, 0, 500}}; // density over a ball's: 8, 1, 7.9
    const auto peak = [&](double density, double farthest) {
        return largest_circular_velocity(shells, 0, density / ball, farthest).radius;
    };
    EXPECT_EQ(peak(2, 4), 1);
    EXPECT_EQ(peak(0.5, 4), 4); // never crossed
    EXPECT_EQ(peak(0.5, 3), 1);
    EXPECT_EQ(peak(0, 4), 4);
}

TEST(BoundHalos, DensitiesAreMassesPerComovingVolume) {
    constexpr Universe universe{.gravity = 3, .scale_factor = 0.5, .hubble = 4, .omega_matter = 0.3};
    const double critical = 2 / std::numbers::pi / 8;
    EXPECT_DOUBLE_EQ(critical_density(universe), critical);
    EXPECT_DOUBLE_EQ(mean_density(universe), 0.3 * critical);
    EXPECT_NEAR(virial_density(universe) / critical, 101.14, 5e-3); // as quoted for Omega_m = 0.3
}

TEST(BoundHalos, DistancesAreToTheNearestImage) {
    const Shells shells = shells_about({9, 1, 5}, {{{1, 1, 5}, {}, 2, 0}, {{9, 9, 5}, {}, 3, 0}}, {10, 0, 10});
    EXPECT_EQ(shells.radii, (std::vector<double>{2, 8}));
    EXPECT_EQ(shells.masses, (std::vector<double>{2, 3}));
}

TEST(BoundHalos, HalfOfTheMassIsReachedOnALine) {
    EXPECT_EQ(half_mass_radius({{3, 1, 2}, {2, 1, 1}}), 2);
    EXPECT_EQ(half_mass_radius({{2, 4}, {1, 3}}), 2 + 2.0 / 3);
    EXPECT_EQ(half_mass_radius({{0, 5}, {3, 1}}), 0);
    EXPECT_EQ(half_mass_radius({{4}, {1}}), 2);
}

} // namespace
} // namespace kith::oracle
