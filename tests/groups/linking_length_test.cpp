// Relative linking lengths: which volume they refer to, what they resolve to, and that the groups are those of the
// resolved length.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class RelativeLength : public testing::TestWithParam<Case> {};

TEST_P(RelativeLength, IsResolvedAndReported) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            const oracle::Volume volume = oracle::volume<T>(set.coordinates, set.dimension, named.box);
            ASSERT_TRUE(volume.value > 0 && std::isfinite(volume.value));
            for (const double b : {0.2, 0.7}) {
                const double length =
                    b * std::pow(volume.value / static_cast<double>(set.count()), 1.0 / set.dimension);
                for (const Engine engine : {Engine::tree, Engine::brute_force}) {
                    const FofResult found =
                        fof(set.view(), LinkingLength::relative(b), {.box = named.box, .engine = engine});
                    const double rounding = 4 * std::numeric_limits<T>::epsilon();
                    EXPECT_NEAR(found.linking_length / length, 1, rounding) << named.name;
                    EXPECT_NEAR(found.volume / volume.value, 1, 2 * set.dimension * rounding) << named.name;
                    EXPECT_EQ(found.volume_kind, volume.kind) << named.name;
                    EXPECT_EQ(found.linking_length, static_cast<double>(static_cast<T>(found.linking_length)));
                    EXPECT_TRUE(same_groups(
                        found, oracle::groups(oracle::working_copy<T>(set.coordinates, set.dimension, named.box),
                                              found.linking_length)))
                        << named.name << ", b " << b << ", " << name_of(engine);
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, RelativeLength,
                         testing::ValuesIn(cases_of({"two", "uniform", "mixed_signs", "gaussian", "clustered",
                                                     "lattice", "far_outlier", "slightly_outside"})),
                         case_name);

class KnownLengths : public NeedsDimension<3> {};

TEST_F(KnownLengths, OfAKnownVolume) {
    std::vector<double> points;
    for (int i = 0; i < 8; ++i) {
        points.insert(points.end(), {static_cast<double>(i & 1), static_cast<double>(i >> 1 & 1) * 2,
                                     static_cast<double>(i >> 2) * 4});
    }
    const PointsView view(points, 3);
    const FofResult by_extent = fof(view, LinkingLength::relative(1));
    EXPECT_EQ(by_extent.volume, 8);
    EXPECT_DOUBLE_EQ(by_extent.linking_length, 1);
    EXPECT_EQ(by_extent.volume_kind, VolumeKind::extent);
    const FofResult by_box = fof(view, LinkingLength::relative(0.5), {.box = Box::periodic({8.0, 8.0, 8.0})});
    EXPECT_EQ(by_box.volume, 512);
    EXPECT_DOUBLE_EQ(by_box.linking_length, 2);
    EXPECT_EQ(by_box.volume_kind, VolumeKind::box);
    const FofResult mixed = fof(view, LinkingLength::relative(1), {.box = Box::periodic({0.0, 8.0, 8.0})});
    EXPECT_EQ(mixed.volume, 64);
    EXPECT_DOUBLE_EQ(mixed.linking_length, 2);
    EXPECT_EQ(mixed.volume_kind, VolumeKind::mixed);
}

TEST_F(KnownLengths, OfVolumesBeyondDoublesIsRightOrRefused) {
    for (const std::string name : {"huge", "tiny"}) {
        const PointSet<double> set = point_set<double>(name, 3);
        const double expected_factor = 0.2 / std::cbrt(static_cast<double>(set.count()));
        try {
            const FofResult found = fof(set.view(), LinkingLength::relative(0.2));
            EXPECT_NEAR(found.linking_length / set.extent(), expected_factor, 0.05 * expected_factor) << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument) << name;
        }
    }
}

TEST(Overdensities, AreLengthsAtWhichTwoPointsFillASphere) {
    const auto b = [](double density, int dimension = 3, double omega_sim = 1) {
        const LinkingLength length = LinkingLength::overdensity(density, dimension, omega_sim);
        EXPECT_TRUE(length.is_relative());
        return length.value();
    };
    const double pi = std::acos(-1.0);
    EXPECT_NEAR(b(3 / (2 * pi * 0.008)), 0.2, 1e-15); // 59.7
    EXPECT_NEAR(b(2 / pi, 2), 1, 1e-15);
    EXPECT_NEAR(b(1, 1), 1, 1e-15);
    EXPECT_NEAR(b(2 / (pi * pi * pi / 6), 6), 1, 1e-15);
    EXPECT_NEAR(b(200, 3, 27), 3 * b(200), 1e-15); // as long an absolute length as where the mean is the universe's
    EXPECT_EQ(b(200, 2, 0.25), b(800, 2));
    EXPECT_NEAR(b(1e-300), std::cbrt(3 / (2 * pi)) * 1e100, 1e86);
    for (const double density : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"overdensity", "above 0"},
                               [&] { (void)LinkingLength::overdensity(density); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"omega_sim", "above 0"},
                               [&] { (void)LinkingLength::overdensity(200, 3, density); }));
    }
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"9 dimensions"}, [&] { (void)LinkingLength::overdensity(200, 9); }));
}

} // namespace
} // namespace kith::test
