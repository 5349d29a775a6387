// Small groups whose numbers are known by hand.
#include "halos/samples.hpp"
#include "support/cases.hpp"

#include <kith/catalog.hpp>
#include <kith/fof.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using Doubles = std::vector<double>;
using Rows = std::vector<std::int32_t>;

Particles at(const Doubles& positions, int dimension) {
    Particles particles;
    particles.positions = PointsView(positions, dimension);
    return particles;
}

TEST(KnownGroups, FourCorners) {
    const Doubles x{1, 1, 3, 1, 1, 5, 3, 5};
    const Doubles v{1, 0, -1, 0, 1, 0, -1, 0};
    Particles particles = at(x, 2);
    particles.velocities = PointsView(v, 2);
    particles.uniform_mass = 0.5;
    const Catalog found = catalog(groups_with({0, 0, 0, 0}), particles, {.min_members = 4});
    EXPECT_EQ(found.groups, 1);
    EXPECT_EQ(found.min_members, 4);
    EXPECT_EQ(found.mass, Doubles{2});
    EXPECT_EQ(found.mass_by_type, (Doubles{0, 2, 0, 0, 0, 0, 0}));
    EXPECT_EQ(found.center, (Doubles{2, 3}));
    EXPECT_EQ(found.velocity, (Doubles{0, 0}));
    EXPECT_EQ(found.rms_radius, Doubles{std::sqrt(5.0)});
    EXPECT_EQ(found.max_radius, Doubles{std::sqrt(5.0)});
    EXPECT_EQ(found.velocity_dispersion, Doubles{std::sqrt(0.5)});
    EXPECT_EQ(found.lower, (Doubles{-1, -2}));
    EXPECT_EQ(found.upper, (Doubles{1, 2}));
    EXPECT_EQ(found.is_ambiguous, std::vector<std::uint8_t>{0});
    ASSERT_EQ(found.stages.size(), 1U);
    EXPECT_EQ(found.stages[0].name, "catalog");
    EXPECT_GE(found.stages[0].peak_bytes, static_cast<std::int64_t>(4 * sizeof(std::int32_t)));
}

TEST(KnownGroups, AcrossTheEdge) {
    const Doubles x{7.5, 0.5, 1.5, 7.5}; // two points: 7.5 to 9.5, and 0.5 down to -0.5
    FofResult groups = groups_with({0, 0}, Box::periodic(8));
    groups.linking_length = 2;
    const Catalog found = catalog(groups, at(x, 2), {.min_members = 1});
    EXPECT_EQ(found.box, Box::periodic(8));
    EXPECT_EQ(found.lengths.linking_length, 2);
    EXPECT_EQ(found.center, (Doubles{0.5, 0}));
    EXPECT_EQ(found.lower, (Doubles{-1, -0.5}));
    EXPECT_EQ(found.upper, (Doubles{1, 0.5}));
    EXPECT_EQ(found.is_ambiguous, std::vector<std::uint8_t>{0});
}

TEST(KnownGroups, CenterStaysInTheBoxOfTheOrigin) {
    const Doubles across{7.5, 1.5};
    const FofResult groups = groups_with({0, 0});
    EXPECT_EQ(catalog(in_box(groups, Box::periodic(8).with_origin(0, 0.25)), at(across, 1), {.min_members = 1}).center,
              Doubles{0.5});
    EXPECT_EQ(catalog(in_box(groups, Box::periodic(8).with_origin(0, 0.5)), at(across, 1), {.min_members = 1}).center,
              Doubles{8.5});
    const Doubles symmetric{-3.5, 3.5, -1, 1}; // within [-4, 4], so the box starts at -4
    EXPECT_EQ(catalog(groups_with({0, 0, 1, 1}, Box::periodic(8)), at(symmetric, 1), {.min_members = 1}).center,
              (Doubles{-4, 0}));
    const Doubles outside{9, 10, 1, 2}; // beyond [0, 8] and wider than [9, 17]: starts at 1 by its smallest coordinate
    EXPECT_EQ(catalog(groups_with({0, 0, 1, 1}, Box::periodic(9)), at(outside, 1), {.min_members = 1}).center,
              (Doubles{9.5, 1.5}));
    const Doubles whole_box{7.75, 8.25, 0.5, 16}; // wider than the box: starts at 0
    EXPECT_EQ(catalog(groups_with({0, 0, 1, 1}, Box::periodic(8)), at(whole_box, 1), {.min_members = 1}).center,
              (Doubles{8, 0.25}));
}

// Whatever images of the points the catalog is given.
TEST(KnownGroups, AreDescribedInTheBoxInWhichTheyWereFound) {
    if (!is_built(2)) {
        GTEST_SKIP() << "dimension 2 is not built";
    }
    const Doubles x{-3.5, 0, 3.75, 0, -1, 0, -0.5, 0};   // within [-4, 4], so the box starts at -4
    const Doubles images{4.5, 0, 3.75, 0, 7, 0, 7.5, 0}; // by themselves, these would start it at 0
    const Doubles centers{-3.875, 0, -0.75, 0};
    const FofResult groups = fof(PointsView(x, 2), LinkingLength::absolute(1), {.box = Box::periodic({8.0, 0.0})});
    EXPECT_EQ(groups.label_array, (Rows{0, 0, 1, 1}));
    EXPECT_EQ(groups.box.origin(0), -4);
    const CatalogOptions pairs{.min_members = 2};
    EXPECT_EQ(catalog(groups, at(x, 2), pairs).center, centers);
    EXPECT_EQ(catalog(groups, at(images, 2), pairs).center, centers);
    EXPECT_EQ(catalog(groups.labels(), groups, at(images, 2), pairs).center, centers);
}

TEST(KnownGroups, WideOnesAreFlagged) {
    const Doubles x{0, 3, 6, 0, 2, 4, 0.5, 7.5};
    const FofResult groups = groups_with({0, 0, 0, 1, 1, 1, 2, 2});
    const std::vector<std::uint8_t> expected{1, 0, 0}; // half a period exactly is not ambiguous
    const Catalog found = catalog(in_box(groups, Box::periodic(8)), at(x, 1), {.min_members = 1});
    EXPECT_EQ(found.is_ambiguous, expected);
    EXPECT_EQ(found.lower[1], -2);
    EXPECT_EQ(found.upper[1], 2);
    EXPECT_EQ(catalog(groups, at(x, 1), {.min_members = 1}).is_ambiguous, std::vector<std::uint8_t>(3));
    const Doubles y{0, 0, 1, 3, 1, 6}; // long only on an open axis
    EXPECT_EQ(catalog(groups_with({0, 0, 0}, Box::periodic({8, 0})), at(y, 2), {.min_members = 1}).is_ambiguous[0], 0);
    EXPECT_EQ(catalog(groups_with({0, 0, 0}, Box::periodic({0, 8})), at(y, 2), {.min_members = 1}).is_ambiguous[0], 1);
}

TEST(KnownGroups, MembersAreListedByTypeThenIndex) {
    const Doubles x{0, 1, 2, 3, 4, 5, 6, 7};
    const Doubles m{1, 2, 4, 8, 16, 32, 64, 128};
    const std::vector<std::uint8_t> types{4, 0, 4, 6, 0, 1, 0, 4};
    Particles particles = at(x, 1);
    particles.masses = ScalarsView(m);
    particles.types = types;
    const Catalog found = catalog(groups_with({1, 0, 0, 0, 1, -1, 0, 1}), particles, {.min_members = 3});
    EXPECT_EQ(found.member_array, (Rows{1, 6, 2, 3, 4, 0, 7}));
    EXPECT_EQ(found.offset, (std::vector<std::int64_t>{0, 4}));
    EXPECT_EQ(found.count, (std::vector<std::int64_t>{4, 3}));
    EXPECT_EQ(found.count_by_type, (std::vector<std::int64_t>{2, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 2, 0, 0}));
    EXPECT_EQ(found.mass, (Doubles{78, 145}));
    EXPECT_EQ(found.mass_by_type, (Doubles{66, 0, 0, 0, 4, 0, 8, 16, 0, 0, 0, 129, 0, 0}));
}

TEST(KnownGroups, OffsetsStartFromTheLowestIndexWhateverItsType) {
    // Half a period apart, the nearest image of the other point depends on where one starts: here from row 0, at 1.
    const Doubles x{1, 5};
    const std::vector<std::uint8_t> types{5, 0};
    Particles particles = at(x, 1);
    particles.types = types;
    const Catalog found = catalog(groups_with({0, 0}, Box::periodic(8)), particles, {.min_members = 1});
    EXPECT_EQ(found.member_array, (Rows{1, 0}));
    EXPECT_EQ(found.center, Doubles{3});
}

TEST(KnownGroups, WithoutMassAreAveragedEqually) {
    const Doubles x{0, 2, 10, 14};
    const Doubles m{0, 0, 1, 3};
    const Doubles v{1, 3, 1, 5};
    Particles particles = at(x, 1);
    particles.masses = ScalarsView(m);
    particles.velocities = PointsView(v, 1);
    const FofResult groups = groups_with({0, 0, 1, 1});
    const Catalog found = catalog(groups, particles, {.min_members = 2});
    EXPECT_EQ(found.mass, (Doubles{0, 4}));
    EXPECT_EQ(found.mass_by_type, (Doubles{0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0}));
    EXPECT_EQ(found.center, (Doubles{1, 13}));
    EXPECT_EQ(found.velocity, (Doubles{2, 4}));
    EXPECT_EQ(found.rms_radius, (Doubles{1, std::sqrt(3.0)}));
    EXPECT_EQ(found.max_radius, (Doubles{1, 3}));
    EXPECT_EQ(found.velocity_dispersion, (Doubles{1, std::sqrt(3.0)}));

    Particles uniform = at(x, 1);
    uniform.uniform_mass = 0;
    EXPECT_EQ(catalog(groups, uniform, {.min_members = 2}).mass, (Doubles{0, 0}));
    EXPECT_EQ(catalog(groups, uniform, {.min_members = 2}).center, (Doubles{1, 12}));
}

TEST(KnownGroups, SmallOnesAreLeftOut) {
    const Doubles x{0, 1, 2, 3, 4, 5};
    const FofResult groups = groups_with({0, 2, 0, 1, 0, 1});
    EXPECT_EQ(catalog(groups, at(x, 1), {.min_members = 1}).count, (std::vector<std::int64_t>{3, 2, 1}));
    EXPECT_EQ(catalog(groups, at(x, 1), {.min_members = 2}).member_array, (Rows{0, 2, 4, 3, 5}));
    EXPECT_EQ(catalog(groups, at(x, 1), {.min_members = 3}).member_array, (Rows{0, 2, 4}));
    const Catalog none = catalog(groups, at(x, 1), {.min_members = 4});
    EXPECT_EQ(none.groups, 0);
    EXPECT_EQ(none.dimension, 1);
    EXPECT_TRUE(none.member_array.empty() && none.offset.empty() && none.center.empty() && none.is_ambiguous.empty());
    EXPECT_EQ(catalog(groups, at(x, 1)).groups, 0); // 20 members unless told otherwise
}

TEST(KnownGroups, NoParticlesMakeNoGroups) {
    const Catalog found = catalog(in_box(FofResult{}, Box::periodic(1)), at({}, 3));
    EXPECT_EQ(found.groups, 0);
    EXPECT_EQ(found.dimension, 3);
    EXPECT_TRUE(found.member_array.empty());
}

TEST(KnownGroups, SinglePointsAreTheirOwnCenters) {
    const Doubles x{0.1, 7.9};
    const Catalog found = catalog(groups_with({0, 1}, Box::periodic(8)), at(x, 1), {.min_members = 1});
    EXPECT_EQ(found.center, x);
    EXPECT_EQ(found.max_radius, (Doubles{0, 0}));
    EXPECT_EQ(found.rms_radius, (Doubles{0, 0}));
    EXPECT_EQ(found.lower, (Doubles{0, 0}));
    EXPECT_EQ(found.upper, (Doubles{0, 0}));
}

// Products with masses and their sum are rounded: without a bound the mean of one velocity would not be it.
TEST(KnownGroups, OfEqualVelocitiesHaveThatVelocityAndNoDispersion) {
    const Doubles m = uniform_points<double>(40, 1, 0.1, 1, 6);
    const Doubles x = uniform_points<double>(40, 2, 0, 1, 7);
    Rows labels(40);
    Doubles v;
    for (std::int32_t i = 0; i < 40; ++i) {
        labels[i] = i < 21 ? 0 : i - 20; // one group of 21, the others single
        v.insert(v.end(), {0.1 * (1 + labels[i]), -0.7});
    }
    Particles particles = at(x, 2);
    particles.velocities = PointsView(v, 2);
    for (const bool weighted : {true, false}) {
        if (weighted) {
            particles.masses = m;
        } else {
            particles.masses.reset();
        }
        const Catalog found = catalog(groups_with(labels), particles, {.min_members = 1});
        EXPECT_EQ(found.groups, 20);
        Doubles expected;
        for (std::int64_t g = 0; g < found.groups; ++g) {
            expected.insert(expected.end(), {0.1 * static_cast<double>(1 + g), -0.7});
        }
        EXPECT_EQ(found.velocity, expected);
        EXPECT_EQ(found.velocity_dispersion, Doubles(20, 0));
    }
}

TEST(KnownGroups, ProgressIsToldAndCanCancel) {
    const Sample<float> made = sample<float>(std::vector<std::int32_t>(100, 30), 3, 4);
    std::vector<std::string> names;
    const auto listen = [&](std::string_view stage, double fraction) {
        names.emplace_back(stage);
        EXPECT_GE(fraction, 0);
        EXPECT_LE(fraction, 1);
        return true;
    };
    EXPECT_EQ(catalog(made.groups, made.everything(), {.execution = cpu(2, listen)}).groups, 100);
    ASSERT_FALSE(names.empty());
    EXPECT_EQ(names, std::vector<std::string>(names.size(), "catalog"));
    const auto stop = [](std::string_view, double) { return false; };
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"catalog"}, [&] {
        static_cast<void>(catalog(made.groups, made.everything(), {.execution = cpu(2, stop)}));
    }));
}

} // namespace
} // namespace kith::test
