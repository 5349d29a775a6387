// Every column against plain loops in extended precision, for every type, dimension, box and set of columns.
#include "halos/plain_catalog.hpp"
#include "halos/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

namespace kith::test {
namespace {

// A few roundings of float64: of the mean, of differences from it, of their squares.
constexpr double roundings = 16 * 0x1p-53;

void expect_near(double found, long double expected, long double scale, const std::string& what) {
    EXPECT_NEAR(found, static_cast<double>(expected), static_cast<double>(roundings * scale)) << what;
}

void expect_same(const Catalog& found, const std::vector<PlainGroup>& expected, const Particles& particles,
                 double period) {
    ASSERT_EQ(found.groups, static_cast<std::int64_t>(expected.size()));
    const int d = particles.positions.dimension();
    ASSERT_EQ(found.dimension, d);
    ASSERT_EQ(found.velocity.empty(), !particles.velocities.has_value());
    ASSERT_EQ(found.velocity_dispersion.empty(), !particles.velocities.has_value());
    std::int64_t offset = 0;
    for (std::int64_t g = 0; g < found.groups; ++g) {
        const PlainGroup& group = expected[g];
        const std::string name = "group " + std::to_string(g);
        ASSERT_EQ(found.offset[g], offset) << name;
        ASSERT_EQ(found.count[g], static_cast<std::int64_t>(group.members.size())) << name;
        for (std::int64_t i = 0; i < found.count[g]; ++i) {
            ASSERT_EQ(found.member_array[offset + i], group.members[i]) << name << ", member " << i;
        }
        offset += found.count[g];
        expect_near(found.mass[g], group.mass, group.mass, name + ", mass");
        for (int type = 0; type < max_types; ++type) {
            EXPECT_EQ(found.count_by_type[g * max_types + type], group.count_by_type[type]) << name;
            expect_near(found.mass_by_type[g * max_types + type], group.mass_by_type[type], group.mass_by_type[type],
                        name + ", mass of type " + std::to_string(type));
        }
        for (int axis = 0; axis < d; ++axis) {
            const std::string where = name + ", axis " + std::to_string(axis);
            const double center = found.center[g * d + axis];
            long double turns = 0;
            if (period > 0) {
                EXPECT_GE(center, 0) << where;
                EXPECT_LE(center, period) << where;
                turns = std::rint((group.center[axis] - center) / period);
            }
            expect_near(center, group.center[axis] - turns * period,
                        std::abs(group.center[axis]) + group.reach + period, where + ", center");
            expect_near(found.lower[g * d + axis], group.lower[axis], group.reach, where + ", lower");
            expect_near(found.upper[g * d + axis], group.upper[axis], group.reach, where + ", upper");
            if (particles.velocities) {
                expect_near(found.velocity[g * d + axis], group.velocity[axis], group.fastest, where + ", velocity");
            }
        }
        expect_near(found.rms_radius[g], group.rms_radius, group.reach, name + ", inertia radius");
        expect_near(found.max_radius[g], group.max_radius, group.reach, name + ", largest radius");
        if (particles.velocities) {
            expect_near(found.velocity_dispersion[g], group.velocity_dispersion, group.fastest, name + ", dispersion");
        }
        EXPECT_EQ(found.is_ambiguous[g] != 0, group.is_ambiguous) << name;
    }
    EXPECT_EQ(static_cast<std::int64_t>(found.member_array.size()), offset);
}

template <class T>
void check(int dimension, double period, bool everything) {
    const Sample<T> made = sample<T>({900, 300, 257, 256, 255, 40, 20, 20, 19, 3, 1, 1}, dimension,
                                     static_cast<std::uint64_t>(100 + dimension));
    const Particles particles = everything ? made.everything() : made.positions_only();
    const Box box = period > 0 ? Box::periodic(period) : Box();
    for (const std::int64_t min_members : {20, 1}) {
        const Catalog found = catalog(in_box(made.groups, box), particles, {.min_members = min_members});
        expect_same(found, plain_catalog(made.groups, particles, period, min_members), particles, period);
    }
}

class PlainLoops : public testing::TestWithParam<std::tuple<DType, int, double, bool>> {};

TEST_P(PlainLoops, AgreeOnEveryColumn) {
    const auto [dtype, dimension, period, everything] = GetParam();
    if (dtype == DType::float32) {
        check<float>(dimension, period, everything);
    } else {
        check<double>(dimension, period, everything);
    }
}

INSTANTIATE_TEST_SUITE_P(Catalog, PlainLoops,
                         testing::Combine(testing::Values(DType::float32, DType::float64),
                                          testing::Values(1, 2, 3, 6, 8), testing::Values(0.0, sample_period),
                                          testing::Bool()));

TEST(PlainLoops, AgreeOnAGroupSharedAmongThreads) {
    const Sample<float> made = sample<float>({30000, 9000, 25}, 3, 7);
    const Particles particles = made.everything();
    const Catalog found =
        catalog(in_box(made.groups, Box::periodic(sample_period)), particles, {.min_members = 20, .execution = cpu(4)});
    expect_same(found, plain_catalog(made.groups, particles, sample_period, 20), particles, sample_period);
}

TEST(PlainLoops, AgreeOnStridedViews) {
    const Sample<float> made = sample<float>({300, 60, 20}, 3, 11);
    const std::int64_t n = made.count();
    std::vector<double> by_axis(3 * n);         // structure of arrays
    std::vector<float> backwards(4 * n, 1e30F); // last row first, four numbers a row
    for (std::int64_t i = 0; i < n; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            by_axis[axis * n + i] = made.positions[3 * i + axis];
            backwards[4 * (n - 1 - i) + axis] = made.velocities[3 * i + axis];
        }
    }
    Particles strided = made.everything();
    strided.positions = PointsView(by_axis.data(), DType::float64, n, 3, 1, n);
    strided.velocities = PointsView(backwards.data() + 4 * (n - 1), DType::float32, n, 3, -4, 1);
    EXPECT_TRUE(same_values(catalog(made.groups, strided), catalog(made.groups, made.everything())));
}

} // namespace
} // namespace kith::test
