// Numbers of very different sizes, and numbers near the ends of what float64 holds.
#include "halos/samples.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

using Doubles = std::vector<double>;

void expect_all_near(const Doubles& found, const Doubles& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], std::abs(expected[i]) * 4e-16) << i;
    }
}

TEST(Ranges, MassesMaySpanSixtyPowersOfTen) {
    // The heavy member rules; what the light one adds to the means is far below it and still right.
    const Doubles x{0, 0, 1, 2};
    const Doubles v{0, 0, 3, -4};
    const Doubles m{1e30, 1e-30};
    const std::vector<std::uint8_t> types{2, 3};
    Particles particles;
    particles.positions = PointsView(x, 2);
    particles.velocities = PointsView(v, 2);
    particles.masses = ScalarsView(m);
    particles.types = types;
    const Catalog found = catalog(groups_with({0, 0}), particles, {.min_members = 1});
    expect_all_near(found.mass, {1e30});
    expect_all_near(found.mass_by_type, {0, 0, 1e30, 1e-30, 0, 0, 0});
    expect_all_near(found.center, {1e-60, 2e-60});
    expect_all_near(found.velocity, {3e-60, -4e-60});
    expect_all_near(found.rms_radius, {std::sqrt(5.0) * 1e-30});
    expect_all_near(found.velocity_dispersion, {5 / std::sqrt(2.0) * 1e-30});
    expect_all_near(found.max_radius, {std::sqrt(5.0)});
    expect_all_near(found.upper, {1, 2});
}

TEST(Ranges, LightReferenceAmongHeavyMembers) {
    const Doubles x{5, 6, 8};
    const Doubles m{1e-30, 1e30, 1e30};
    Particles particles;
    particles.positions = PointsView(x, 1);
    particles.masses = ScalarsView(m);
    const Catalog found = catalog(groups_with({0, 0, 0}), particles, {.min_members = 1});
    expect_all_near(found.center, {7});
    expect_all_near(found.mass, {2e30});
    expect_all_near(found.rms_radius, {1});
    expect_all_near(found.max_radius, {2});
}

TEST(Ranges, OppositeVelocitiesCancelExactly) {
    const Doubles x{0, 1, 2};
    const Doubles v{1e20, 3, -1e20};
    Particles particles;
    particles.positions = PointsView(x, 1);
    particles.velocities = PointsView(v, 1);
    EXPECT_EQ(catalog(groups_with({0, 0, 0}), particles, {.min_members = 1}).velocity, Doubles{1});
}

/// Positions, velocities and masses on coarse grids, so that powers of two scale them without rounding.
Sample<double> coarse_sample() {
    Sample<double> made = sample<double>({300, 50, 20}, 3, 21);
    for (std::vector<double>* column : {&made.positions, &made.velocities, &made.masses}) {
        for (double& x : *column) {
            x = std::round(x * 1024) / 1024;
        }
    }
    return made;
}

void expect_scaled(const Doubles& found, Doubles expected, int exponent) {
    for (double& x : expected) {
        x = std::ldexp(x, exponent);
    }
    EXPECT_EQ(found, expected);
}

TEST(Ranges, PowersOfTwoScaleTheAnswers) {
    const Sample<double> plain = coarse_sample();
    const Catalog before = catalog(in_box(plain.groups, Box::periodic(sample_period)), plain.everything());
    for (const int exponent : {-900, -300, 300, 1000}) {
        Sample<double> scaled = plain;
        for (double& x : scaled.positions) {
            x = std::ldexp(x, exponent);
        }
        for (double& v : scaled.velocities) {
            v = std::ldexp(v, exponent);
        }
        for (double& m : scaled.masses) {
            m = std::ldexp(m, exponent / 2);
        }
        const Box box = Box::periodic(std::ldexp(sample_period, exponent));
        const Catalog after = catalog(in_box(scaled.groups, box), scaled.everything());
        ASSERT_EQ(after.groups, 3);
        EXPECT_EQ(after.member_array, before.member_array);
        expect_scaled(after.mass, before.mass, exponent / 2);
        expect_scaled(after.mass_by_type, before.mass_by_type, exponent / 2);
        expect_scaled(after.center, before.center, exponent);
        expect_scaled(after.velocity, before.velocity, exponent);
        expect_scaled(after.rms_radius, before.rms_radius, exponent);
        expect_scaled(after.velocity_dispersion, before.velocity_dispersion, exponent);
        expect_scaled(after.max_radius, before.max_radius, exponent);
        expect_scaled(after.lower, before.lower, exponent);
        expect_scaled(after.upper, before.upper, exponent);
        EXPECT_EQ(after.is_ambiguous, before.is_ambiguous);
    }
}

TEST(Ranges, DifferencesBeyondTheLargestNumber) {
    constexpr double largest = std::numeric_limits<double>::max();
    const Doubles x{-largest, largest};
    Particles particles;
    particles.positions = PointsView(x, 1);
    particles.velocities = PointsView(x, 1);
    const Catalog found = catalog(groups_with({0, 0}), particles, {.min_members = 1});
    EXPECT_EQ(found.center, Doubles{0});
    EXPECT_EQ(found.velocity, Doubles{0});
    EXPECT_EQ(found.lower, Doubles{-largest});
    EXPECT_EQ(found.upper, Doubles{largest});
    EXPECT_EQ(found.rms_radius, Doubles{largest});
    EXPECT_EQ(found.max_radius, Doubles{largest});
    EXPECT_EQ(found.velocity_dispersion, Doubles{largest});
}

TEST(Ranges, SubnormalNumbers) {
    constexpr double least = std::numeric_limits<double>::denorm_min();
    const Doubles x{0, 4 * least};
    const Doubles m{least, least};
    Particles particles;
    particles.positions = PointsView(x, 1);
    particles.velocities = PointsView(x, 1);
    particles.masses = ScalarsView(m);
    const Catalog found = catalog(groups_with({0, 0}), particles, {.min_members = 1});
    EXPECT_EQ(found.mass, Doubles{2 * least});
    EXPECT_EQ(found.center, Doubles{2 * least});
    EXPECT_EQ(found.velocity, Doubles{2 * least});
    EXPECT_EQ(found.rms_radius, Doubles{2 * least});
    EXPECT_EQ(found.max_radius, Doubles{2 * least});
    EXPECT_EQ(found.velocity_dispersion, Doubles{2 * least});
    EXPECT_EQ(found.lower, Doubles{-2 * least});
}

TEST(Ranges, MassesThatAddUpBeyondTheLargestNumberStillWeigh) {
    const Doubles x{0, 4};
    const Doubles m{1.5e308, 1.5e308};
    Particles particles;
    particles.positions = PointsView(x, 1);
    particles.masses = ScalarsView(m);
    const Catalog found = catalog(groups_with({0, 0}), particles, {.min_members = 1});
    EXPECT_EQ(found.mass, Doubles{std::numeric_limits<double>::infinity()});
    EXPECT_EQ(found.center, Doubles{2});
    EXPECT_EQ(found.rms_radius, Doubles{2});
}

} // namespace
} // namespace kith::test
