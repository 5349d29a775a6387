// kith::halos(): groups that fof() finds, unbound and described; defaults and refusals.
#include "oracle/bound_halos.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/fof.hpp>
#include <kith/halos.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

constexpr double period = 40;

/// Two balls at rest, one of them at a corner of the box, a third that flies apart, and particles around them.
struct Balls {
    std::vector<float> positions;
    std::vector<float> velocities;
    std::vector<double> masses;
    FofResult groups;
    HaloOptions options;

    explicit Balls(std::int64_t around = 2000) {
        Random random(31);
        add_ball(random, {0.05, 39.9, 0.1}, 300, 0);
        add_ball(random, {20, 20, 20}, 120, 0);
        add_ball(random, {10, 30, 20}, 60, 1e4);
        for (std::int64_t i = 0; i < around; ++i) {
            add(random, {random.uniform(0, period), random.uniform(0, period), random.uniform(0, period)}, 0);
        }
        groups = fof(PointsView(positions, 3), LinkingLength::absolute(0.6), {.box = Box::periodic(period)});
        options.universe = {.gravity = 3, .scale_factor = 0.5, .hubble = 6, .omega_matter = 0.3};
        options.softening = Softening{SofteningKernel::plummer, 0.02};
    }
    [[nodiscard]] Particles particles() const {
        Particles all;
        all.positions = PointsView(positions, 3);
        all.velocities = PointsView(velocities, 3);
        all.masses = ScalarsView(masses);
        return all;
    }
    [[nodiscard]] oracle::Body body(std::size_t row) const {
        return {.position = {positions[3 * row], positions[3 * row + 1], positions[3 * row + 2]},
                .velocity = {},
                .mass = masses[row],
                .internal_energy = 0};
    }

private:
    void add(Random& random, const std::array<double, 3>& at, double speed) {
        for (const double x : at) {
            positions.push_back(static_cast<float>(x - period * std::floor(x / period)));
            velocities.push_back(static_cast<float>(speed * random.normal()));
        }
        masses.push_back(random.uniform(1, 2));
    }
    void add_ball(Random& random, const std::array<double, 3>& center, std::int64_t count, double speed) {
        for (std::int64_t i = 0; i < count; ++i) {
            std::array<double, 3> at{random.normal(), random.normal(), random.normal()};
            const double stretch = random.uniform(0, 1) / std::hypot(at[0], at[1], at[2]);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                at[axis] = center[axis] + stretch * at[axis];
            }
            add(random, at, speed);
        }
    }
};

using HalosCall = NeedsDimension<3>;

TEST_F(HalosCall, UnbindsGroupsAndDescribesWhatIsLeft) {
    const Balls balls;
    const Halos found = halos(balls.groups, balls.particles(), balls.options);
    ASSERT_EQ(found.groups, 3);
    ASSERT_EQ(found.halos, 2);
    EXPECT_EQ(found.group, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(found.first_of_group, (std::vector<std::int64_t>{0, 1, -1}));
    EXPECT_EQ(found.parent, (std::vector<std::int64_t>{-1, -1}));
    for (std::int64_t group = 0; group < found.groups; ++group) {
        std::vector<std::int32_t> members(found.members().begin() + found.group_offset[group],
                                          found.members().begin() + found.group_offset[group + 1]);
        EXPECT_EQ(std::ssize(members), balls.groups.sizes[group]);
        for (const std::int32_t row : members) {
            EXPECT_EQ(balls.groups.labels()[row], group);
        }
        std::sort(members.begin(), members.end());
        EXPECT_EQ(std::unique(members.begin(), members.end()), members.end());
    }
    std::vector<oracle::Body> bodies;
    for (std::size_t i = 0; i < balls.masses.size(); ++i) {
        bodies.push_back(balls.body(i));
    }
    const oracle::Universe universe{3, 0.5, 6, 0.3};
    for (std::int64_t halo = 0; halo < 2; ++halo) {
        EXPECT_GT(found.count[halo], halo == 0 ? 270 : 90);
        EXPECT_LT(found.energies[found.offset[halo] + found.count[halo] - 1], 0);
        const oracle::Shells shells =
            oracle::shells_about(bodies[found.center_row[halo]].position, bodies, {period, period, period});
        const double critical = oracle::critical_density(universe);
        const double densities[] = {200 * oracle::mean_density(universe), 200 * critical, 500 * critical,
                                    2500 * critical, oracle::virial_density(universe)};
        for (std::int64_t i = 0; i < 5; ++i) {
            const oracle::Sphere expected = oracle::first_overdensity(shells, densities[i]);
            EXPECT_GT(expected.mass, 10);
            EXPECT_NEAR(found.sphere_radius[5 * halo + i], expected.radius, 1e-10 * expected.radius);
            EXPECT_NEAR(found.sphere_mass[5 * halo + i], expected.mass, 1e-10 * expected.mass);
        }
    }
    EXPECT_EQ(found.options.least_radius, 0.02);
}

TEST_F(HalosCall, IsTheSameForLabelsAndAnyThreads) {
    Balls balls;
    const Halos one = halos(balls.groups, balls.particles(), balls.options);
    balls.options.execution = cpu(3);
    const Halos other = halos(balls.groups.labels(), balls.groups, balls.particles(), balls.options);
    EXPECT_EQ(other.member_array, one.member_array);
    EXPECT_EQ(other.energies, one.energies);
    EXPECT_EQ(other.sphere_radius, one.sphere_radius);
    EXPECT_EQ(other.max_velocity, one.max_velocity);
}

TEST_F(HalosCall, IsTheSameInAGivenTree) {
    const Balls balls;
    const Halos expected = halos(balls.groups, balls.particles(), balls.options);
    const Tree tree(balls.particles().positions, {.box = Box::periodic(period), .shape = {.leaf_size = 7}});
    Particles particles = balls.particles();
    particles.tree = &tree;
    const FofResult groups = fof(tree, LinkingLength::absolute(0.6));
    const Halos found = halos(groups, particles, balls.options);
    EXPECT_EQ(found.member_array, expected.member_array);
    EXPECT_EQ(found.energies, expected.energies);
    EXPECT_EQ(found.sphere_radius, expected.sphere_radius);
    EXPECT_EQ(found.max_velocity, expected.max_velocity);
    EXPECT_TRUE(std::none_of(found.stages.begin(), found.stages.end(),
                             [](const StageReport& stage) { return stage.name == "order"; }));
}

TEST_F(HalosCall, RefusesTreesOfOtherPoints) {
    const Balls balls(10);
    const auto refused = [&](ErrorKind kind, const char* text, const PointsView& points, const TreeOptions& options) {
        const Tree tree(points, options);
        Particles particles = balls.particles();
        particles.tree = &tree;
        return is_refused(kind, {text}, [&] { (void)halos(balls.groups, particles, balls.options); });
    };
    const PointsView positions = balls.particles().positions;
    const Box box = Box::periodic(period);
    EXPECT_TRUE(refused(ErrorKind::invalid_argument, "another box", positions, {}));
    EXPECT_TRUE(refused(ErrorKind::invalid_argument, "has 5 points of 3-D float32",
                        PointsView(std::span(balls.positions).first(15), 3), {.box = box}));
    EXPECT_TRUE(refused(ErrorKind::unsupported, "engine 'kdtree'", positions, {.box = box, .engine = Engine::kdtree}));
}

TEST_F(HalosCall, TakesSofteningAndLeastRadiusFromTheMeanSeparation) {
    Balls balls;
    balls.options.softening.reset();
    const Halos found = halos(balls.groups, balls.particles(), balls.options);
    const double expected = period / std::cbrt(static_cast<double>(balls.masses.size())) / 30;
    EXPECT_NEAR(found.options.softening->length, expected, 1e-12);
    EXPECT_EQ(found.options.least_radius, found.options.softening->length);
    EXPECT_EQ(found.options.softening->kernel, SofteningKernel::spline);
    EXPECT_GE(found.max_velocity_radius[0], expected);
}

TEST_F(HalosCall, TakesWholeGroupsWithoutVelocities) {
    Balls balls;
    balls.options.unbind = false;
    Particles particles = balls.particles();
    particles.velocities.reset();
    const Halos found = halos(balls.groups, particles, balls.options);
    ASSERT_EQ(found.halos, 3);
    EXPECT_TRUE(found.velocity.empty());
    for (std::int64_t halo = 0; halo < 3; ++halo) {
        EXPECT_EQ(found.count[halo], balls.groups.sizes[halo]);
        EXPECT_EQ(found.unbound_fraction[halo], 0);
        EXPECT_EQ(found.center_row[halo], found.member_array[found.offset[halo]]);
        EXPECT_GT(found.sphere_mass[5 * halo], 10);
    }
    std::vector<oracle::Body> bodies;
    for (std::int64_t i = found.group_offset[2]; i < found.group_offset[3]; ++i) {
        bodies.push_back(balls.body(found.member_array[i]));
    }
    const std::vector<double> expected =
        oracle::potentials(bodies, [](double r) { return oracle::plummer_kernel(r, 0.02); });
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double energy = found.energies[found.group_offset[2] + i];
        EXPECT_NEAR(energy, 3 / 0.5 * expected[i], 1e-10 * std::abs(energy));
        EXPECT_TRUE(i == 0 || found.energies[found.group_offset[2] + i - 1] <= energy);
    }
}

TEST_F(HalosCall, OfNoGroups) {
    Balls balls;
    balls.options.min_members = 10000;
    const Halos found = halos(balls.groups, balls.particles(), balls.options);
    EXPECT_EQ(found.groups, 0);
    EXPECT_EQ(found.halos, 0);
    EXPECT_TRUE(found.member_array.empty());
    EXPECT_TRUE(found.sphere_mass.empty());
}

TEST_F(HalosCall, TakesParticlesOfTheHost) {
    const Balls balls;
    HaloOptions options = balls.options;
    for (const Execution& execution : {cpu(1), on_no_gpu}) {
        options.execution = execution;
        Particles particles = balls.particles();
        particles.velocities = particles.velocities->moved(0, Device{DeviceKind::cuda, 1});
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"velocities", "GPU 1", "copy them to the host"},
                               [&] { (void)halos(balls.groups, particles, options); }));
    }
    EXPECT_TRUE(is_refused(has_cuda() ? ErrorKind::device : ErrorKind::unsupported, {has_cuda() ? "GPU" : "no CUDA"},
                           [&] { (void)halos(balls.groups, balls.particles(), options); }));
}

TEST_F(HalosCall, RefusesWhatItCannotAnswer) {
    const Balls balls(10);
    const auto refused = [&](const std::vector<std::string>& parts, const auto& change) {
        HaloOptions options = balls.options;
        Particles particles = balls.particles();
        change(options, particles);
        return is_refused(ErrorKind::invalid_argument, parts, [&] { (void)halos(balls.groups, particles, options); });
    };
    EXPECT_TRUE(refused({"velocities are missing"}, [](auto&, auto& particles) { particles.velocities.reset(); }));
    EXPECT_TRUE(refused({"universe.gravity is 0"}, [](auto& options, auto&) { options.universe.gravity = 0; }));
    EXPECT_TRUE(refused({"universe.scale_factor is -1"}, [](auto& o, auto&) { o.universe.scale_factor = -1; }));
    EXPECT_TRUE(refused({"universe.hubble is"}, [](auto& o, auto&) { o.universe.hubble = std::nan(""); }));
    EXPECT_TRUE(refused({"softening.length is 0"}, [](auto& o, auto&) { o.softening = Softening{}; }));
    EXPECT_TRUE(refused({"least_radius is -1"}, [](auto& o, auto&) { o.least_radius = -1; }));
    EXPECT_TRUE(refused({"overdensity is -2"}, [](auto& o, auto&) {
        o.overdensities = {{DensityReference::critical, -2}};
    }));
    EXPECT_TRUE(refused({"min_members is 0"}, [](auto& o, auto&) { o.min_members = 0; }));
    EXPECT_TRUE(refused({"velocities: 5 rows"}, [&](auto&, auto& particles) {
        particles.velocities = PointsView(std::span(balls.velocities).first(15), 3);
    }));
}

} // namespace
} // namespace kith::test
