// Bad input is refused before any work, with a text that names the value, the place and the remedy.
#include "halos/samples.hpp"
#include "support/cases.hpp"
#include "support/special_numbers.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

/// Two groups in three dimensions, and a change to it that must be refused.
class Refusals : public testing::Test {
protected:
    Sample<double> made = sample<double>({5, 3}, 3, 1);
    FofResult groups = made.groups;
    Particles particles = made.everything();
    CatalogOptions options{.min_members = 1};

    testing::AssertionResult refused(const std::vector<std::string>& parts,
                                     ErrorKind kind = ErrorKind::invalid_argument) {
        return is_refused(kind, parts, [&] { static_cast<void>(catalog(groups, particles, options)); });
    }
};

TEST_F(Refusals, TheSampleItselfIsFine) {
    EXPECT_EQ(catalog(groups, particles, options).groups, 2);
}

TEST_F(Refusals, TooSmallMinMembers) {
    options.min_members = 0;
    EXPECT_TRUE(refused({"min_members is 0", "1 or more"}));
}

TEST_F(Refusals, LengthsThatDiffer) {
    particles.positions = PointsView(made.positions.data(), 7, 3);
    EXPECT_TRUE(refused({"positions: 7 rows for 8 labels", "same order"}));
    particles = made.everything();
    particles.velocities = PointsView(made.velocities.data(), 6, 3);
    EXPECT_TRUE(refused({"velocities: 6 rows for 8 labels"}));
    particles = made.everything();
    particles.velocities = PointsView(made.velocities.data(), 8, 2);
    EXPECT_TRUE(refused({"velocities: the dimension is 2", "positions is 3"}));
    particles = made.everything();
    particles.masses = ScalarsView(std::span<const double>(made.masses.data(), 5));
    EXPECT_TRUE(refused({"masses: 5 rows for 8 labels"}));
    particles = made.everything();
    particles.types = std::span<const std::uint8_t>(made.types.data(), 2);
    EXPECT_TRUE(refused({"types: 2 rows for 8 labels"}));
}

TEST_F(Refusals, ViewsThatCannotBe) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"a flat array of 24 numbers", "7", "multiple"},
                           [&] { particles.positions = PointsView(made.positions, 7); }));
    particles.positions = PointsView(made.positions.data(), 8, 9);
    EXPECT_TRUE(refused({"positions: the dimension is 9", "1 to 8"}));
    particles.positions = PointsView(static_cast<const double*>(nullptr), 8, 3);
    EXPECT_TRUE(refused({"positions", "null"}));
    particles.positions = PointsView(made.positions.data(), DType::float64, 8, 3, 3, 1, Device{DeviceKind::cuda, 0});
    EXPECT_TRUE(refused({"positions", "GPU 0", "CPU"}));
}

TEST_F(Refusals, TypesAboveSix) {
    made.types[4] = 7;
    made.types[6] = 200;
    EXPECT_TRUE(refused({"types: row 4 has type 7", "0 to 6"}));
}

TEST_F(Refusals, MassesThatCannotBe) {
    made.masses[5] = -1.5;
    made.masses[7] = nan;
    EXPECT_TRUE(refused({"masses: row 5 is -1.5"}));
    made.masses[5] = 1;
    EXPECT_TRUE(refused({"masses: row 7 is", "nan"}));
    made.masses[2] = infinity;
    EXPECT_TRUE(refused({"masses: row 2 is inf"}));
    particles = made.positions_only();
    for (const double mass : {-1.0, nan, infinity}) {
        particles.uniform_mass = mass;
        EXPECT_TRUE(refused({"uniform_mass is", "finite and not negative"})) << mass;
    }
}

TEST_F(Refusals, VelocitiesThatAreNotFinite) {
    made.velocities[3 * 6 + 2] = nan;
    EXPECT_TRUE(refused({"velocities: row 6 has", "nan", "axis 2"}));
    made.velocities[3 * 4 + 1] = -infinity;
    EXPECT_TRUE(refused({"velocities: row 4 has -inf on axis 1"}));
}

TEST_F(Refusals, PositionsThatAreNotFinite) {
    made.positions[3 * 3] = nan;
    EXPECT_TRUE(refused({"point 3", "NaN"}, ErrorKind::invalid_points));
}

/// Groups that were linked here, from points below 16: the second is too small to be described.
class RefusalsOfLinkedGroups : public Refusals {
protected:
    RefusalsOfLinkedGroups() {
        groups.coordinates_below = 16;
        groups.box = Box::periodic(sample_period).with_origin(0, 0.0).with_origin(1, 0.0).with_origin(2, 0.0);
        options.min_members = 4;
    }
    void set(std::int64_t row, int axis, double x) { made.positions[static_cast<std::size_t>(3 * row + axis)] = x; }
    [[nodiscard]] std::int64_t row_of(std::int32_t label) const {
        return std::ranges::find(made.groups.labels(), label) - made.groups.labels().begin();
    }
};

TEST_F(RefusalsOfLinkedGroups, PositionsOfMembersThatAreNotFinite) {
    const Catalog expected = catalog(groups, particles, options);
    for (const double x : {nan, infinity, -infinity}) {
        set(row_of(1), 2, x); // no member of a group that is described
        EXPECT_TRUE(same_values(catalog(groups, particles, options), expected));
        for (std::int64_t row = 0; row < 8; ++row) { // the reference, a member without mass, any other
            if (made.groups.labels()[row] == 0) {
                const double position = made.positions[static_cast<std::size_t>(3 * row + 1)];
                const double mass = std::exchange(made.masses[static_cast<std::size_t>(row)], 0);
                set(row, 1, x);
                const std::string first = "point " + std::to_string(std::min(row, row_of(1)));
                EXPECT_TRUE(refused({first}, ErrorKind::invalid_points));
                set(row, 1, position);
                made.masses[static_cast<std::size_t>(row)] = mass;
            }
        }
        options.min_members = 1;
        EXPECT_TRUE(refused({"point " + std::to_string(row_of(1))}, ErrorKind::invalid_points));
        options.min_members = 4;
    }
}

TEST_F(RefusalsOfLinkedGroups, OnlyTheBoxesThatDoNotFit) {
    groups.box = Box::periodic({4, 4});
    EXPECT_TRUE(refused({"2 periods", "3 axes"}));
    groups.box = Box::periodic(0.05); // without origins: not the box that was searched
    EXPECT_TRUE(refused({"more than twice the period"}, ErrorKind::invalid_points));
}

/// Differences overflow unless they are scaled, which what is known of other points does not tell.
TEST_F(RefusalsOfLinkedGroups, NothingOfOtherPositionsThanThoseThatWereLinked) {
    groups.box = {};
    for (const double size : {0x1p10, 0x1p1021}) {
        made = sample<double>({5, 3}, 3, 1);
        std::ranges::for_each(made.positions, [&](double& x) { x = (x - 2) * size; });
        FofResult unknown = groups;
        unknown.coordinates_below = 0;
        particles = made.everything();
        EXPECT_TRUE(same_values(catalog(groups, particles, options), catalog(unknown, particles, options)));
    }
}

TEST_F(RefusalsOfLinkedGroups, FollowFromThePoints) {
    for (const auto& [largest, above] :
         {std::pair{3.0, 4.0}, {4.0, 8.0}, {0x1p-1000, 0x1p-999}, {0x1.8p1023, 0x1p1023}}) {
        std::ranges::fill(made.positions, 0);
        set(5, 1, -largest);
        EXPECT_EQ(fof(particles.positions, LinkingLength::absolute(largest)).coordinates_below, above);
    }
}

TEST_F(Refusals, BoxesThatDoNotFit) {
    groups.box = Box::periodic({4, 4});
    EXPECT_TRUE(refused({"2 periods", "3 axes"}));
    groups.box = Box::periodic(-1);
    EXPECT_TRUE(refused({"period -1"}));
    groups.box = Box::periodic(0.05);
    EXPECT_TRUE(refused({"more than twice the period"}, ErrorKind::invalid_points));
}

TEST_F(Refusals, LabelsWithoutGroups) {
    groups.label_array.vector<std::int32_t>()[6] = 2;
    EXPECT_TRUE(refused({"row 6 has label 2", "2 groups"}));
    groups.label_array.vector<std::int32_t>()[1] = -2;
    EXPECT_TRUE(refused({"row 1 has label -2"}));
}

TEST_F(Refusals, SizesThatAreNotThoseOfTheLabels) {
    groups.sizes = GroupSizes(std::vector{6, 3});
    EXPECT_TRUE(refused({"group 0 has size 6 but 5 rows"}));
    groups.sizes = GroupSizes(std::vector{5, 2});
    EXPECT_TRUE(refused({"group 1 has size 2 but 3 rows"}));
}

TEST_F(Refusals, SizesOfGroupsThatThreadsShare) {
    made = sample<double>({20000, 9000, 3}, 3, 2);
    groups = made.groups;
    particles = made.everything();
    groups.sizes = GroupSizes(std::vector{20000, 8999, 3});
    EXPECT_TRUE(refused({"group 1 has size 8999 but 9000 rows"}));
    groups.sizes = GroupSizes(std::vector{20001, 9000, 3});
    EXPECT_TRUE(refused({"group 0 has size 20001 but 20000 rows"}));
}

TEST_F(Refusals, ExecutionsThatCannotBe) {
    options.execution = cpu(-1);
    EXPECT_TRUE(refused({"threads is -1"}));
}

} // namespace
} // namespace kith::test
