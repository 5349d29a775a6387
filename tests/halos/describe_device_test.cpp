// Halos described on a GPU, which the CPU emulates: every column is the CPU's own, to the last bit, on mocks and nasty
// sets, however little is worked on at a time.
#include "halos/halo_samples.hpp"
#include "halos/halos_on_device.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

using detail::DescribeLimits;

/// Returns the CPU's halos.
template <class T>
Halos check(HaloSample<T>& sample, const DescribeRun& run = {}) {
    const Halos expected = sample.halos();
    const Halos found = found_on_device(sample, run);
    EXPECT_EQ(found.halos, expected.halos);
    expect_same(found, expected);
    return expected;
}

/// First and outermost crossings, of all particles and of bound members alone.
template <class T>
void check_all_options(HaloSample<T> sample, const DescribeRun& run = {}) {
    for (const bool outermost : {false, true}) {
        for (const bool bound_only : {false, true}) {
            SCOPED_TRACE(testing::Message() << "outermost " << outermost << ", bound only " << bound_only);
            sample.options.outermost = outermost;
            sample.options.bound_only = bound_only;
            check(sample, run);
        }
    }
}

using HalosOnDevice = NeedsDimension<3>;

TEST_F(HalosOnDevice, AreThoseOfTheCpu) {
    auto single = mock<float>(6000, sizes_of_mock, 21);
    for (std::size_t i = 0; i < single.masses.size(); ++i) {
        single.types.push_back(static_cast<std::uint8_t>(i % 7));
    }
    check_all_options(single);
    check_all_options(mock<double>(4000, sizes_of_mock, 22));
}

TEST_F(HalosOnDevice, DoNotDependOnHowMuchIsWorkedOnAtATime) {
    auto sample = mock<float>(2000, {300, 40, 150, 30, 25, 20, 12}, 23);
    for (const DescribeLimits limits :
         {DescribeLimits{.halos = 1}, DescribeLimits{.members = 100},
          DescribeLimits{.halos = 3, .members = 400, .particles = 500}, DescribeLimits{.particles = 40}}) {
        for (const bool outermost : {false, true}) {
            sample.options.outermost = outermost;
            check(sample, {.limits = limits});
        }
    }
    sample.options.outermost = false;
    const Halos halos = check(sample, {.budget = 200 << 10}); // less than all members and shells take at a time
    EXPECT_GT(halos.halos, 4);
}

TEST_F(HalosOnDevice, NeedAsMuchMemoryAsTheLargest) {
    auto sample = mock<float>(2000, {300, 40}, 24);
    (void)sample.halos();
    const Halos found = found_on_device(sample, {});
    ASSERT_EQ(found.stages.size(), 1);
    EXPECT_GT(found.stages[0].peak_bytes, 300 * 60);
    EXPECT_THROW((void)found_on_device(sample, {.budget = 8 << 10}), Error);
}

TEST_F(HalosOnDevice, OfCoincidentPoints) {
    HaloSample<double> sample;
    sample.universe = universe_of(1e-4);
    for (int i = 0; i < 120; ++i) {
        sample.add_member({1, 2, 3}, 1 + 0.1 * i);
    }
    sample.add_member({1.5, 2, 3}, 1);
    sample.end_group();
    check_all_options(sample);
    for (int i = 0; i < 100; ++i) {
        sample.add({1, 2, 300}, 1);
    }
    check_all_options(sample);
    check_all_options(sample, {.limits = {.particles = 30}}); // no shell is as thin as that
}

TEST_F(HalosOnDevice, OfALatticeWhereDistancesAreEqual) {
    for (const double period : {0.0, 12.0}) {
        Random random(3);
        HaloSample<float> sample;
        sample.period = {period, period, period};
        for (int i = 0; i < 12 * 12 * 12; ++i) { // sums show the order of members at one distance
            const std::array<double, 3> at{i % 12 + 0.5, i / 12 % 12 + 0.5, i / 144 + 0.5};
            const bool is_inside = std::abs(at[0] - 1) < 2 && std::abs(at[1] - 6) < 2 && std::abs(at[2] - 11) < 2;
            is_inside ? sample.add_member(at, random.uniform(2, 4)) : sample.add(at, random.uniform(0, 1.0 / 512));
        }
        sample.end_group();
        sample.universe = universe_of(1.0 / 128);
        check_all_options(sample);
    }
}

TEST_F(HalosOnDevice, OfHalosAcrossCornersAndPointsOutsideTheBox) {
    auto sample = mock<double>(1500, {400, 60}, 25);
    for (std::size_t i = 0; i < sample.positions.size(); ++i) {
        sample.positions[i] += (i % 7 == 0 ? 0 : 50) - (i % 3 == 2 ? 25 : 0); // partly images
    }
    check_all_options(sample);
    sample.period = {50, 0, 50};
    check_all_options(sample);
    sample.period = {}; // of members that are far apart
    check_all_options(sample);
}

TEST_F(HalosOnDevice, OfEqualMassesOrNone) {
    auto sample = mock<float>(1500, {200, 40, 30}, 26);
    for (const double mass : {1.0, 0.1, 0.0}) {
        std::fill(sample.masses.begin(), sample.masses.end(), mass);
        check_all_options(sample, {.has_masses = false});
    }
    std::fill_n(sample.masses.begin() + 200, 40, 1e-300); // of one group
    check_all_options(sample);
}

TEST_F(HalosOnDevice, OfUniversesWithoutDensities) {
    auto sample = mock<float>(1500, {200, 40}, 27);
    const Universe universe = sample.universe;
    sample.universe.omega_matter = 0; // no mean density, no largest velocity before it is crossed
    check_all_options(sample);
    sample.universe.hubble = 0;
    check_all_options(sample);
    sample.universe = universe;
    sample.universe.hubble *= 1e4; // nothing is as dense
    check_all_options(sample);
    sample.universe.hubble *= 1e-7; // all is denser
    check_all_options(sample);
    sample.universe = universe;
    sample.options.overdensities = {overdensities::critical_2500, overdensities::mean_200,
                                    overdensities::critical_2500};
    check_all_options(sample);
    sample.options.overdensities = {};
    check_all_options(sample);
}

TEST_F(HalosOnDevice, OfHugeAndTinyUnits) {
    for (const int exponent : {70, -40}) {
        auto sample = mock<float>(1500, {200, 40}, 28);
        const double length = std::ldexp(1.0, exponent);
        for (float& x : sample.positions) {
            x *= static_cast<float>(length);
        }
        for (double& edge : sample.period) {
            edge *= length;
        }
        sample.softening.length *= length;
        *sample.options.least_radius *= length;
        sample.universe.gravity *= length;
        sample.universe.hubble /= length;
        check_all_options(sample);
    }
}

TEST_F(HalosOnDevice, OfFewParticles) {
    HaloSample<double> sample;
    sample.universe = universe_of(1e-6);
    sample.end_group(); // empty
    sample.add_member({1, 1, 1}, 2);
    sample.end_group();
    check_all_options(sample); // the only particle
    sample.options.least_radius = 0.5;
    sample.add({1e6, 0, 0}, 1); // far away
    check_all_options(sample);
    sample.min_members = 2;
    const Halos none = check(sample);
    EXPECT_EQ(none.halos, 0);
}

} // namespace
} // namespace kith::test
