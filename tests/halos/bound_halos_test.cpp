// Centers, masses and sizes of halos against the oracle, on mocks and nasty sets; what they must not depend on.
#include "halos/halo_samples.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace kith::test {
namespace {

using namespace detail;
using namespace detail::halos;

constexpr double tolerance = 1e-10; // relative; 1e-6 is promised

void expect_close(double found, double expected, const char* what, std::int64_t halo) {
    EXPECT_NEAR(found, expected, tolerance * std::abs(expected)) << what << " of halo " << halo;
}

/// A halo's row against plain loops over all particles.
template <class T>
void check_halo(const HaloSample<T>& sample, const Halos& found, std::int64_t halo) {
    const std::span<const std::int32_t> group(
        sample.bound.rows.data() + found.offset[halo],
        static_cast<std::size_t>(sample.offset[found.group[halo] + 1] - sample.offset[found.group[halo]]));
    const auto members = group.first(static_cast<std::size_t>(found.count[halo]));
    std::vector<std::int32_t> rows(sample.masses.size());
    std::iota(rows.begin(), rows.end(), 0);
    const std::array<double, 3> center = sample.body(found.center_row[halo]).position;
    const auto shells_of = [&](std::span<const std::int32_t> of) {
        return oracle::shells_about(center, sample.bodies(of), sample.period);
    };
    const oracle::Shells of_bound = shells_of(members);
    const oracle::Shells shells = sample.options.bound_only ? of_bound : shells_of(rows);
    const oracle::Universe universe{.gravity = sample.universe.gravity,
                                    .scale_factor = sample.universe.scale_factor,
                                    .hubble = sample.universe.hubble,
                                    .omega_matter = sample.universe.omega_matter};
    const double critical = oracle::critical_density(universe);
    const double mean = oracle::mean_density(universe);
    const double densities[] = {200 * mean, 200 * critical, 500 * critical, 2500 * critical,
                                universe.omega_matter > 0 ? oracle::virial_density(universe) : 0};
    const std::size_t width = sample.options.overdensities.size();
    for (std::size_t i = 0; i < width; ++i) {
        oracle::Sphere expected;
        if (densities[i] > 0) {
            expected = sample.options.outermost
                           ? oracle::outermost_overdensity(shells, densities[i], sample.options.bound_only)
                           : oracle::first_overdensity(shells, densities[i], sample.options.bound_only);
        }
        expect_close(found.sphere_radius[halo * width + i], expected.radius, "sphere", halo);
        expect_close(found.sphere_mass[halo * width + i], expected.mass, "sphere's mass", halo);
    }
    const double farthest = *std::max_element(of_bound.radii.begin(), of_bound.radii.end()) * (1 + 1e-14);
    const oracle::VelocityPeak peak =
        oracle::largest_circular_velocity(shells, *sample.options.least_radius, 200 * mean, farthest);
    expect_close(found.max_velocity[halo], std::sqrt(universe.gravity * peak.squared_velocity / universe.scale_factor),
                 "velocity", halo);
    expect_close(found.max_velocity_radius[halo], peak.radius, "velocity's radius", halo);
    expect_close(found.half_mass_radius[halo], oracle::half_mass_radius(of_bound), "half-mass radius", halo);

    const auto sum = [&](std::span<const std::int32_t> of) {
        double mass = 0;
        for (const std::int32_t row : of) {
            mass += sample.masses[row];
        }
        return mass;
    };
    std::array<std::int64_t, max_types> counts{};
    for (const std::int32_t row : members) {
        ++counts[sample.types.empty() ? 1 : sample.types[row]];
    }
    EXPECT_TRUE(std::equal(counts.begin(), counts.end(), found.count_by_type.begin() + max_types * halo)) << halo;
    expect_close(found.mass[halo], sum(members), "mass", halo);
    expect_close(found.group_mass[halo], sum(group), "group's mass", halo);
    EXPECT_NEAR(found.unbound_fraction[halo] * sum(group), sum(group) - sum(members), 1e-10 * sum(group));
    EXPECT_EQ(found.is_bridge[halo], sum(members) < sum(group) / 2 ? 1 : 0);

    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double period = sample.period[axis];
        double mean_offset = 0;
        double mean_velocity = 0;
        double largest = 0;
        for (const std::int32_t row : members) {
            const double offset = sample.body(row).position[axis] - center[axis];
            mean_offset += sample.masses[row] * (period > 0 ? std::remainder(offset, period) : offset);
            mean_velocity += sample.masses[row] * sample.body(row).velocity[axis];
            largest = std::max(largest, std::abs(sample.body(row).velocity[axis]));
        }
        mean_offset /= sum(members);
        EXPECT_NEAR(found.velocity[3 * halo + axis], mean_velocity / sum(members), 1e-12 * largest);
        square += mean_offset * mean_offset;
        const double apart = found.center_of_mass[3 * halo + axis] - found.center[3 * halo + axis];
        const double longest = period > 0 ? period : farthest;
        EXPECT_NEAR(period > 0 ? std::remainder(apart - mean_offset, period) : apart - mean_offset, 0, 1e-12 * longest);
        const double wrapped = found.center[3 * halo + axis] - center[axis];
        EXPECT_NEAR(period > 0 ? std::remainder(wrapped, period) : wrapped, 0, 1e-12 * longest);
    }
    EXPECT_NEAR(found.center_offset[halo], std::sqrt(square), 1e-9 * farthest);
}

template <class T>
Halos check(HaloSample<T>& sample) {
    const Halos found = sample.halos();
    std::int64_t halos = 0;
    for (std::size_t group = 0; group + 1 < sample.offset.size(); ++group) {
        if (sample.bound.count[group] == 0) {
            EXPECT_EQ(found.first_of_group[group], -1);
            continue;
        }
        EXPECT_EQ(found.first_of_group[group], halos);
        EXPECT_EQ(found.group[halos], static_cast<std::int64_t>(group));
        EXPECT_EQ(found.count[halos], sample.bound.count[group]);
        EXPECT_EQ(found.center_row[halos], sample.bound.deepest[group]);
        check_halo(sample, found, halos++);
    }
    EXPECT_EQ(found.halos, halos);
    return found;
}

using HalosWithMasses = NeedsDimension<3>;

TEST_F(HalosWithMasses, AreThoseOfTheOracle) {
    for (const bool outermost : {false, true}) {
        for (const bool bound_only : {false, true}) {
            auto single = mock<float>(6000, sizes_of_mock, 21);
            auto twofold = mock<double>(6000, sizes_of_mock, 22);
            single.options.outermost = twofold.options.outermost = outermost;
            single.options.bound_only = twofold.options.bound_only = bound_only;
            for (std::size_t i = 0; i < single.masses.size(); ++i) {
                single.types.push_back(static_cast<std::uint8_t>(i % 5));
            }
            const Halos found = check(single);
            check(twofold);
            EXPECT_GE(found.halos, 8);
            EXPECT_LE(found.halos, 10); // the smallest group has too few members
            EXPECT_GT(found.unbound_fraction[0], 0.02);
            for (std::int64_t sphere = 0; sphere < 2; ++sphere) {
                EXPECT_GT(found.sphere_radius[sphere], 0.5);
            }
        }
    }
}

TEST_F(HalosWithMasses, DifferByDefinitionWhereHalosTouch) {
    auto sample = mock<double>(6000, sizes_of_mock, 23);
    const Halos first = check(sample);
    sample.options.outermost = true;
    const Halos outermost = check(sample);
    sample.options.bound_only = true;
    const Halos of_bound = check(sample);
    bool is_larger = false;
    bool is_smaller = false;
    for (std::size_t i = 0; i < first.sphere_radius.size(); ++i) {
        EXPECT_GE(outermost.sphere_radius[i], first.sphere_radius[i]);
        is_larger = is_larger || outermost.sphere_radius[i] > first.sphere_radius[i];
        is_smaller = is_smaller || of_bound.sphere_radius[i] < outermost.sphere_radius[i];
    }
    EXPECT_TRUE(is_larger);
    EXPECT_TRUE(is_smaller);
}

TEST_F(HalosWithMasses, DoNotDependOnThreadsAndPlanes) {
    auto sample = mock<float>(sized(40000), {sized(9000), sized(4000), 1000, 500, 300, 200, 100, 50, 50, 50, 20}, 24);
    for (const bool outermost : {false, true}) {
        sample.options.outermost = outermost;
        sample.shape = {};
        const Halos one = sample.halos(1);
        expect_same(sample.halos(3), one);
        sample.shape = {.leaf_size = 3, .coarsening = 2, .top_size = 1};
        expect_same(sample.halos(2), one);
        sample.shape = {.leaf_size = 1000, .coarsening = 8, .top_size = 100000};
        expect_same(sample.halos(2), one);
    }
}

TEST_F(HalosWithMasses, DoNotDependOnUnits) {
    auto sample = mock<float>(4000, sizes_of_mock, 28);
    const Halos expected = check(sample);
    constexpr double length = 0x1p70;
    constexpr double mass = 0x1p-300;
    for (float& x : sample.positions) {
        x *= static_cast<float>(length);
    }
    for (double& m : sample.masses) {
        m *= mass;
    }
    for (double& edge : sample.period) {
        edge *= length;
    }
    sample.softening.length *= length;
    *sample.options.least_radius *= length;
    sample.universe.gravity *= length / mass; // velocities stay as they are
    sample.universe.hubble /= length;
    Halos found = sample.halos();
    for (const auto column : {&Halos::center, &Halos::center_of_mass, &Halos::center_offset, &Halos::half_mass_radius,
                              &Halos::sphere_radius, &Halos::max_velocity_radius}) {
        for (double& x : found.*column) {
            x /= length;
        }
    }
    for (const auto column : {&Halos::mass, &Halos::group_mass, &Halos::sphere_mass}) {
        for (double& m : found.*column) {
            m /= mass;
        }
    }
    expect_same(found, expected);
}

TEST_F(HalosWithMasses, OfCoincidentPoints) {
    HaloSample<double> sample;
    sample.universe = universe_of(1e-4);
    for (int i = 0; i < 300; ++i) {
        sample.add_member({1, 2, 3}, 1);
    }
    sample.add_member({1.5, 2, 3}, 1);
    sample.end_group();
    const Halos alone = check(sample);
    EXPECT_EQ(alone.sphere_radius[0], 0); // dense as far as there are particles
    EXPECT_EQ(alone.half_mass_radius[0], 0);
    for (int i = 0; i < 100; ++i) {
        sample.add({1, 2, 300}, 1);
    }
    EXPECT_GT(check(sample).sphere_radius[0], 0.5);
}

TEST_F(HalosWithMasses, OfALatticeWhereDistancesAreEqual) {
    for (const double period : {0.0, 12.0}) {
        HaloSample<float> sample;
        sample.period = {period, period, period};
        for (int i = 0; i < 12 * 12 * 12; ++i) {
            const std::array<double, 3> at{i % 12 + 0.5, i / 12 % 12 + 0.5, i / 144 + 0.5};
            const bool is_inside = std::abs(at[0] - 1) < 2 && std::abs(at[1] - 6) < 2 && std::abs(at[2] - 11) < 2;
            is_inside ? sample.add_member(at, 3) : sample.add(at, 1.0 / 1024);
        }
        sample.end_group();
        sample.universe = universe_of(1.0 / 128);
        check(sample);
        sample.options.outermost = true;
        check(sample);
    }
}

TEST_F(HalosWithMasses, OfAHaloAcrossTheCornerAndPointsOutsideTheBox) {
    auto sample = mock<double>(3000, {400}, 25);
    HaloSample<double> moved = sample;
    for (std::size_t i = 0; i < moved.positions.size(); ++i) {
        const double x = moved.positions[i] - (i % 3 == 2 ? 25 : 0);
        moved.positions[i] = x + (i % 7 == 0 ? 0 : 50); // partly images
    }
    const Halos found = check(moved);
    EXPECT_EQ(found.halos, 1);
    EXPECT_EQ(found.is_wide[0], 0);
    const Halos expected = check(sample);
    EXPECT_EQ(found.center_row, expected.center_row);
    expect_close(found.sphere_radius[0], expected.sphere_radius[0], "sphere", 0);
}

TEST_F(HalosWithMasses, OfFewParticles) {
    HaloSample<double> sample;
    sample.universe = universe_of(1e-6);
    sample.end_group(); // empty
    sample.add_member({1, 1, 1}, 2);
    sample.end_group();
    Halos found = check(sample); // the only particle
    EXPECT_EQ(found.halos, 1);
    EXPECT_EQ(found.group[0], 1);
    EXPECT_EQ(found.sphere_radius[0], 0);
    EXPECT_EQ(found.max_velocity[0], 0);
    sample.options.least_radius = 0.5;
    found = check(sample);
    EXPECT_EQ(found.max_velocity_radius[0], 0.5);
    sample.add({1e6, 0, 0}, 1); // far away
    found = check(sample);
    EXPECT_GT(found.sphere_radius[0], 1);
    sample.min_members = 2;
    found = check(sample);
    EXPECT_EQ(found.halos, 0);
    EXPECT_TRUE(found.sphere_radius.empty());
}

TEST_F(HalosWithMasses, OfParticlesWithoutMass) {
    auto sample = mock<double>(2000, {100}, 26);
    for (std::size_t i = 0; i < sample.masses.size(); i += 2) {
        sample.masses[i] = 0;
    }
    check(sample);
    for (std::size_t i = 0; i < 100; ++i) {
        sample.masses[i] = 0;
    }
    const Halos found = sample.halos();
    EXPECT_EQ(found.mass[0], 0);
    EXPECT_EQ(found.half_mass_radius[0], 0);
    EXPECT_GT(found.center_offset[0], 0);
    EXPECT_EQ(found.sphere_radius[0], 0) << "of no mass, from the first distance on";
}

TEST_F(HalosWithMasses, WithoutDensities) {
    auto sample = mock<float>(2000, {300, 50}, 27);
    sample.universe.omega_matter = 0;
    Halos found = check(sample);
    EXPECT_EQ(found.sphere_radius[0], 0);
    EXPECT_GT(found.sphere_radius[1], 0);
    sample.universe.hubble = 0;
    found = check(sample);
    EXPECT_EQ(found.sphere_radius, std::vector<double>(10, 0.0));
    EXPECT_GT(found.max_velocity[0], 0);
}

TEST_F(HalosWithMasses, AreWideOrBridges) {
    HaloSample<double> sample;
    sample.period = {10, 10, 10};
    sample.universe = universe_of(1);
    for (int i = 0; i < 8; ++i) {
        sample.add_member({1.0 * i, 5, 5}, 1);
    }
    sample.end_group();
    const double speeds[] = {3e4, -1e4, -2e4, 4e4, -4e4, 0, 0, 0, 0};
    for (int i = 0; i < 9; ++i) {
        sample.add_member({0.1 * i, 1, 9.5 + 0.1 * (i % 2)}, 1, speeds[i]);
    }
    sample.end_group();
    const Halos found = check(sample);
    EXPECT_EQ(found.is_wide, (std::vector<std::uint8_t>{1, 0}));
    EXPECT_EQ(found.is_bridge, (std::vector<std::uint8_t>{0, 1}));
    sample.universe = universe_of(5e-5); // a sphere of 200 times that is wider than the box
    EXPECT_EQ(check(sample).is_wide[1], 1);
}

TEST(Cosmology, GravityAndDensities) {
    // 4.30091e-9 Mpc (km/s)^2 per solar mass, as CODATA and IAU have it; in units of Gadget 43.0091.
    EXPECT_NEAR(gravity_in(1e6, 1, 1) * 1e9, 4.30091, 1e-5);
    EXPECT_NEAR(gravity_in(1e3, 1e10, 1), 43009.1, 0.1);
    Universe universe{.gravity = gravity_in(1e6, 1, 1), .scale_factor = 1, .hubble = 100, .omega_matter = 0.3};
    EXPECT_NEAR(critical_density(universe) / 1e11, 2.77536, 1e-4); // h^2 solar masses per Mpc^3
    universe.scale_factor = 0.5;
    const oracle::Universe same{universe.gravity, 0.5, 100, 0.3};
    EXPECT_DOUBLE_EQ(density_of({DensityReference::critical, 500}, universe), 500 * oracle::critical_density(same));
    EXPECT_DOUBLE_EQ(density_of({DensityReference::matter, 200}, universe), 200 * oracle::mean_density(same));
    EXPECT_DOUBLE_EQ(density_of({DensityReference::bryan_norman, 1}, universe), oracle::virial_density(same));
    universe.omega_matter = 0;
    EXPECT_EQ(density_of({DensityReference::bryan_norman, 1}, universe), 0);
}

} // namespace
} // namespace kith::test
