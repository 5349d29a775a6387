// Bound members against the oracle; which way the Hubble flow counts; what the answer must not depend on.
#include "halos/unbind.hpp"
#include "oracle/bound_halos.hpp"
#include "points/frame.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using namespace detail;
using namespace detail::halos;

constexpr double period = 32;

/// Particles of groups, one group after the other, in a periodic box.
struct Groups {
    std::vector<double> positions; ///< row-major
    std::vector<float> velocities;
    std::vector<double> masses;
    std::vector<float> internal_energies; ///< empty: none
    std::vector<std::int64_t> offset{0};

    void add_body(const std::array<double, 3>& at, const std::array<double, 3>& velocity, double mass) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            positions.push_back(at[axis] - period * std::floor(at[axis] / period));
            velocities.push_back(static_cast<float>(velocity[axis]));
        }
        masses.push_back(mass);
    }
    void end_group() { offset.push_back(std::ssize(masses)); }

    [[nodiscard]] BoundMembers bound(const Softening& softening, const Universe& universe, std::int64_t min_members,
                                     int threads = 1) const {
        Particles particles;
        particles.positions = PointsView(positions, 3);
        particles.velocities = PointsView(velocities, 3);
        particles.masses = ScalarsView(masses);
        if (!internal_energies.empty()) {
            particles.internal_energies = ScalarsView(internal_energies);
        }
        std::vector<std::int32_t> rows(masses.size());
        std::iota(rows.begin(), rows.end(), 0);
        BoundMembers found;
        Context context(cpu(threads));
        context.stage("bound members", [&] {
            const auto frame = normalize_sources<double>(particles.positions, Box::periodic(period)).frame;
            const Columns columns = columns_of(particles, check_particle_values(particles), position_frame(frame));
            found = bound_members(context, columns, {rows, offset}, softening, universe, min_members);
        });
        return found;
    }
};

/// A ball around an edge of the box, its members with random velocities, some too fast to stay.
void add_ball(Groups& groups, Random& random, std::int64_t count, double speed) {
    const std::array<double, 3> drift{random.uniform(-9, 9), random.uniform(-9, 9), random.uniform(-9, 9)};
    for (std::int64_t i = 0; i < count; ++i) {
        std::array<double, 3> at{random.normal(), random.normal(), random.normal()};
        std::array<double, 3> velocity = drift;
        const double factor = random.uniform(0, 1) < 0.2 ? 4 : 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            at[axis] = 31.5 + at[axis] * 0.5;
            velocity[axis] += factor * speed * random.normal();
        }
        groups.add_body(at, velocity, random.uniform(0.5, 2));
    }
    groups.end_group();
}

std::vector<oracle::Body> bodies_of(const Groups& groups, std::size_t group) {
    std::vector<oracle::Body> bodies;
    for (std::int64_t i = groups.offset[group]; i < groups.offset[group + 1]; ++i) {
        oracle::Body body{.mass = groups.masses[i]};
        if (!groups.internal_energies.empty()) {
            body.internal_energy = groups.internal_energies[i];
        }
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double x = groups.positions[3 * i + axis];
            body.position[axis] = x < period / 2 ? x + period : x;
            body.velocity[axis] = groups.velocities[3 * i + axis];
        }
        bodies.push_back(body);
    }
    return bodies;
}

using BoundMembersOfGroups = NeedsDimension<3>;

TEST_F(BoundMembersOfGroups, AreThoseOfTheOracle) {
    Random random(11);
    Groups groups;
    for (const std::int64_t size : {256, 200, 120, 60, 40, 25, 20, 8, 1}) {
        add_ball(groups, random, size, 0.5 * std::sqrt(static_cast<double>(size)));
    }
    const Softening softening{SofteningKernel::spline, 0.05};
    std::int64_t bound_without_heat = 0;
    for (const auto& [hubble, with_gas] : {std::pair(0.0, false), {0.7, false}, {0.7, true}}) {
        for (std::size_t i = 0; with_gas && i < groups.masses.size(); ++i) { // every third is gas
            groups.internal_energies.push_back(i % 3 == 0 ? static_cast<float>(random.uniform(0, 100)) : 0);
        }
        const Universe universe{.gravity = 1.5, .scale_factor = 0.8, .hubble = hubble};
        const BoundMembers found = groups.bound(softening, universe, 8);
        std::int64_t removed = 0;
        for (std::size_t group = 0; group + 1 < groups.offset.size(); ++group) {
            const oracle::BoundMembers expected = oracle::unbind(
                bodies_of(groups, group), [](double r) { return oracle::spline_kernel(r, 0.05); },
                {.gravity = 1.5, .scale_factor = 0.8, .hubble = hubble}, 8);
            const std::int64_t first = groups.offset[group];
            const std::int64_t size = groups.offset[group + 1] - first;
            ASSERT_EQ(found.count[group], std::ssize(expected.members)) << group;
            EXPECT_EQ(found.deepest[group], expected.deepest < 0 ? -1 : first + expected.deepest) << group;
            removed += size - found.count[group];
            for (std::int64_t i = 0; i < found.count[group]; ++i) {
                EXPECT_EQ(found.rows[first + i] - first, expected.members[i]) << group << ", " << i;
                EXPECT_NEAR(found.energies[first + i], expected.energies[i], 1e-9 * std::abs(expected.energies[0]));
            }
            EXPECT_TRUE(
                std::is_sorted(found.rows.begin() + first + found.count[group], found.rows.begin() + first + size));
            std::vector<std::int32_t> all(found.rows.begin() + first, found.rows.begin() + first + size);
            std::sort(all.begin(), all.end());
            for (std::int64_t i = 0; i < size; ++i) {
                EXPECT_EQ(all[i], first + i);
            }
        }
        EXPECT_GT(removed, 50);
        EXPECT_GT(found.count[0], 100);
        EXPECT_EQ(found.count.back(), 0); // below the minimum
        const std::int64_t bound = std::accumulate(found.count.begin(), found.count.end(), std::int64_t{0});
        EXPECT_TRUE(!with_gas || bound < bound_without_heat - 20) << bound;
        bound_without_heat = bound;
    }
}

TEST_F(BoundMembersOfGroups, WithoutMassStayIfNoneMoves) {
    for (const double speed : {0.0, 4.0}) {
        Groups groups;
        for (int i = 0; i < 16; ++i) { // they drift together, but the last
            groups.add_body({1.0 + i, 2, 3}, {3, -2, i == 15 ? 1 + speed : 1}, 0);
        }
        groups.end_group();
        const oracle::BoundMembers expected = oracle::unbind(
            bodies_of(groups, 0), [](double r) { return oracle::spline_kernel(r, 0.05); }, {.gravity = 1}, 16);
        EXPECT_EQ(std::ssize(expected.members), speed == 0 ? 16 : 0);
        EXPECT_EQ(groups.bound({SofteningKernel::spline, 0.05}, {.gravity = 1}, 16).count[0],
                  std::ssize(expected.members));
    }
}

/// How many stay of a uniform sphere of 2,000, of this density over the critical one, that moves with flow * H a dx.
std::int64_t left_of_sphere(double density, double flow) {
    constexpr std::int64_t count = 2000;
    constexpr double scale_factor = 0.5;
    // G = 1, comoving radius 1 and mass 1: physical density 3 / (4 pi a^3), critical density 3 H^2 / (8 pi).
    const double hubble = std::sqrt(2 / (density * scale_factor * scale_factor * scale_factor));
    Random random(12);
    Groups groups;
    while (std::ssize(groups.masses) < count) {
        const std::array<double, 3> x{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
        if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < 1) {
            const double speed = flow * hubble * scale_factor;
            groups.add_body(x, {speed * x[0], speed * x[1], speed * x[2]}, 1.0 / count);
        }
    }
    groups.end_group();
    return groups
        .bound({SofteningKernel::spline, 0.005}, {.gravity = 1, .scale_factor = scale_factor, .hubble = hubble}, 20)
        .count[0];
}

TEST_F(BoundMembersOfGroups, OfSpheresInTheHubbleFlow) {
    for (const double density : {0.5, 2.0}) {
        EXPECT_EQ(left_of_sphere(density, -1), 2000) << density; // at rest
        EXPECT_LE(left_of_sphere(density, 1), 100) << density;   // twice the flow
    }
    EXPECT_LE(left_of_sphere(0.5, 0), 100);
    EXPECT_EQ(left_of_sphere(2, 0), 2000);
}

TEST_F(BoundMembersOfGroups, DoNotDependOnThreads) {
    Random random(13);
    Groups groups;
    const std::int64_t shared = sized(16 * shared_group_size / 15); // of all threads
    add_ball(groups, random, shared, 0.1 * std::sqrt(static_cast<double>(shared)));
    for (const std::int64_t size : {5000, 300}) {
        add_ball(groups, random, size, 0.3 * std::sqrt(static_cast<double>(size)));
    }
    for (int size = 40; size > 0; --size) {
        add_ball(groups, random, size, 2);
    }
    const Softening softening{SofteningKernel::plummer, 0.01};
    const BoundMembers one = groups.bound(softening, {}, 20, 1);
    const BoundMembers several = groups.bound(softening, {}, 20, 3);
    EXPECT_EQ(several.count, one.count);
    EXPECT_EQ(several.rows, one.rows);
    EXPECT_EQ(several.energies, one.energies);
    EXPECT_EQ(several.deepest, one.deepest);
    for (const std::size_t group : {0U, 1U}) {
        const std::int64_t size = groups.offset[group + 1] - groups.offset[group];
        EXPECT_GT(one.count[group], size / 2);
        EXPECT_LT(one.count[group], size);
    }
}

} // namespace
} // namespace kith::test
