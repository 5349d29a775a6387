// Bound members by the kernels, run on the CPU: rows, energies, centers and motions are the CPU's own, to the last bit.
#include "cuda/intrinsics.hpp" // first: it gives the kernels' text its words

#include "halos/halos_on_device.hpp"
#include "halos/unbind.hpp"
#include "halos/unbind_device.hpp"
#include "points/frame.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;
namespace halos = detail::halos;

constexpr double period = 32;

/// Particles of groups, one group after the other, in shuffled rows.
template <class T>
struct Groups {
    std::vector<T> positions; ///< row-major
    std::vector<T> velocities;
    std::vector<T> masses;
    std::vector<float> internal_energies; ///< empty: none
    std::vector<std::int32_t> rows;
    std::vector<std::int64_t> offset{0};
    Box box = Box::periodic(period);
    double uniform_mass = 1; ///< if there are no masses

    void add(const std::array<double, 3>& at, const std::array<double, 3>& velocity, double mass) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double length = box.period(static_cast<int>(axis));
            positions.push_back(
                static_cast<T>(length > 0 ? at[axis] - length * std::floor(at[axis] / length) : at[axis]));
            velocities.push_back(static_cast<T>(velocity[axis]));
        }
        masses.push_back(static_cast<T>(mass));
    }
    void end_group() {
        for (std::int64_t i = offset.back(); i < std::ssize(positions) / 3; ++i) {
            rows.push_back(static_cast<std::int32_t>(i));
        }
        offset.push_back(std::ssize(rows));
    }
    /// A ball around an edge of the box, some of its members too fast to stay.
    void add_ball(Random& random, std::int64_t count, double speed, double size = 0.5) {
        for (std::int64_t i = 0; i < count; ++i) {
            std::array<double, 3> at{};
            std::array<double, 3> velocity{};
            const double factor = random.uniform(0, 1) < 0.2 ? 4 : 1;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                at[axis] = 31.75 + size * random.normal() * random.uniform(0, 1);
                velocity[axis] = 3 + factor * speed * random.normal();
            }
            add(at, velocity, random.uniform(0.5, 2));
        }
        end_group();
    }

    [[nodiscard]] Particles particles() const {
        Particles all;
        all.positions = PointsView(positions, 3);
        if (!velocities.empty()) {
            all.velocities = PointsView(velocities, 3);
        }
        if (!masses.empty()) {
            all.masses = ScalarsView(masses);
        }
        if (!internal_energies.empty()) {
            all.internal_energies = ScalarsView(internal_energies);
        }
        all.uniform_mass = uniform_mass;
        return all;
    }
};

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// What both find; returns how many members were unbound.
template <class T>
std::int64_t expect_the_cpus(const Groups<T>& groups, const HaloOptions& options, std::int64_t budget = 0) {
    const Particles particles = groups.particles();
    halos::Columns columns;
    halos::BoundMembers expected;
    detail::Context host(cpu(1));
    host.stage("bound members", [&] {
        const auto frame = detail::normalize_sources<T>(particles.positions, groups.box).frame;
        columns = halos::columns_of(particles, halos::check_particle_values(particles), halos::position_frame(frame));
        expected = halos::find_bound(host, columns, {groups.rows, groups.offset}, options);
    });
    halos::BoundMembers found;
    Execution execution = cuda();
    execution.memory_budget = budget;
    DeviceContext context(execution);
    context.stage("unbind", [&] {
        const auto positions = on_device(context, groups.positions);
        const auto velocities = on_device(context, groups.velocities);
        const auto masses = on_device(context, groups.masses);
        const auto heat = on_device(context, groups.internal_energies);
        const auto rows = on_device(context, groups.rows);
        const auto offset = on_device(context, groups.offset);
        Particles there;
        detail::HaloColumns on_gpu;
        on_gpu.positions = detail::DeviceColumn(PointsView(positions.data(), particles.positions.count(), 3));
        if (particles.velocities) {
            on_gpu.velocities = detail::DeviceColumn(PointsView(velocities.data(), particles.positions.count(), 3));
            on_gpu.velocity_scale = 1 / columns.velocities->unit();
        }
        if (particles.masses) {
            on_gpu.masses = detail::DeviceColumn(ScalarsView(masses.data(), masses.size()));
        }
        if (particles.internal_energies) {
            on_gpu.internal_energies = detail::DeviceColumn(ScalarsView(heat.data(), heat.size()));
        }
        on_gpu.uniform_mass = particles.uniform_mass;
        on_gpu.position_scale = 1 / columns.positions.unit();
        std::copy_n(columns.box.period.begin(), 3, on_gpu.period.begin());
        found = detail::find_bound(context, on_gpu, {rows.data(), offset.data(), groups.offset}, options).members;
    });
    EXPECT_EQ(found.count, expected.count);
    EXPECT_EQ(found.rows, expected.rows);
    EXPECT_EQ(found.deepest, expected.deepest);
    std::int64_t different = 0;
    for (std::size_t i = 0; i < expected.energies.size(); ++i) {
        different += same_bits(found.energies[i], expected.energies[i]) ? 0 : 1;
    }
    EXPECT_EQ(different, 0) << "energies of " << expected.energies.size();
    EXPECT_EQ(found.motions.size(), expected.motions.size());
    for (std::size_t i = 0; i < expected.motions.size(); ++i) {
        const halos::Motion& a = found.motions[i];
        const halos::Motion& b = expected.motions[i];
        EXPECT_TRUE(same_bits(a.dispersion, b.dispersion) && same_bits(a.energy, b.energy)) << i;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            EXPECT_TRUE(same_bits(a.velocity[axis], b.velocity[axis]) && same_bits(a.spin[axis], b.spin[axis])) << i;
        }
    }
    return std::ssize(groups.rows) - std::accumulate(expected.count.begin(), expected.count.end(), std::int64_t{0});
}

constexpr Softening spline{SofteningKernel::spline, 0.05};
constexpr Softening plummer{SofteningKernel::plummer, 0.02};

HaloOptions options_of(const Softening& softening, std::int64_t min_members = 20) {
    HaloOptions options;
    options.universe = {.gravity = 1.5, .scale_factor = 0.8, .hubble = 0.7};
    options.softening = softening;
    options.min_members = min_members;
    return options;
}

using HaloKernels = NeedsDimension<3>;

TEST_F(HaloKernels, UnbindGroupsOfAllSizes) {
    Random random(11);
    Groups<float> groups;
    for (const std::int64_t size : {700, 400, 257, 256, 200, 60, 40, 25, 20, 20}) {
        groups.add_ball(random, size, 0.5 * std::sqrt(static_cast<double>(size)));
    }
    for (const Softening& softening : {spline, plummer}) {
        EXPECT_GT(expect_the_cpus(groups, options_of(softening)), 100);
    }
}

TEST_F(HaloKernels, MakeTreesOneAfterTheOtherIfMemoryIsShort) {
    Random random(16);
    Groups<float> groups;
    for (const std::int64_t size : {500, 450, 300}) {
        groups.add_ball(random, size, 1);
    }
    HaloOptions options = options_of(spline);
    options.unbind = false;
    EXPECT_EQ(expect_the_cpus(groups, options, 280'000), 0); // some 160,000 of these before any tree is made
}

TEST_F(HaloKernels, TakeAllMembersByPotential) {
    Random random(12);
    Groups<double> groups;
    for (const std::int64_t size : {1500, 300, 256, 17, 2, 1}) {
        groups.add_ball(random, size, 1, 0.1);
    }
    HaloOptions options = options_of(spline, 1);
    options.unbind = false;
    EXPECT_EQ(expect_the_cpus(groups, options), 0);
    groups.velocities.clear();
    groups.masses.clear();
    groups.uniform_mass = 0.3;
    EXPECT_EQ(expect_the_cpus(groups, options), 0);
}

TEST_F(HaloKernels, UnbindNastyGroups) {
    Random random(13);
    Groups<double> groups;
    for (int i = 0; i < 300; ++i) { // in one place
        groups.add({31.5, 1, 2}, {i == 7 ? 900.0 : 0.0, 0, 0}, 1);
    }
    groups.end_group();
    for (int i = 0; i < 280; ++i) { // a lattice with many equal energies, of which few have mass
        groups.add({0.25 * (i % 7), 0.25 * (i / 7 % 7), 0.25 * (i / 49)}, {i % 2 == 0 ? 40.0 : -40.0, 0, 0},
                   i % 5 == 0 ? 1 : 0);
    }
    groups.end_group();
    for (int i = 0; i < 270; ++i) { // without mass
        groups.add({1.0 * (i % 7), 2, 3}, {1, 1, i == 9 ? 2.0 : 1.0}, 0);
    }
    groups.end_group();
    for (int i = 0; i < 260; ++i) { // ever nearer to one place
        groups.add({std::ldexp(1.0, -i % 50), 5, 5}, {0, 0, 0}, i == 0 ? 1e12 : 1e-12);
    }
    groups.end_group();
    for (int i = 0; i < 30; ++i) { // the same without a tree
        groups.add({4, 4, 4}, {0, i % 3 * 50.0, 0}, i < 2 ? 0 : 1);
    }
    groups.end_group();
    for (std::size_t i = 0; i < groups.masses.size(); ++i) {
        groups.internal_energies.push_back(i % 11 == 0 ? 5.0F : 0.0F);
    }
    for (const Softening& softening : {spline, plummer}) {
        EXPECT_GT(expect_the_cpus(groups, options_of(softening)), 0);
    }
    groups.box = {};
    EXPECT_GT(expect_the_cpus(groups, options_of(plummer)), 0);
}

TEST_F(HaloKernels, LeaveNothingOfGroupsThatAreTooHot) {
    Random random(14);
    Groups<float> groups;
    groups.add_ball(random, 300, 1000);
    groups.add_ball(random, 30, 1000);
    EXPECT_EQ(expect_the_cpus(groups, options_of(spline)), 330);
    const Groups<float> none;
    EXPECT_EQ(expect_the_cpus(none, options_of(spline)), 0);
}

/// Halos of an emulated call for particles of the host, of any layout, whose labels are in no order; returns their number.
template <class T>
std::int64_t expect_the_hosts_answer(const HaloOptions& given, bool plain = false,
                                     const Box& box = Box::periodic(period)) {
    Random random(15);
    const std::vector<std::int32_t> sizes{300, 90, 40, 20, 20, 7};
    std::vector<std::int32_t> labels;
    for (std::size_t group = 0; group < sizes.size(); ++group) {
        labels.insert(labels.end(), static_cast<std::size_t>(sizes[group]), static_cast<std::int32_t>(group));
    }
    labels.insert(labels.end(), 50, -1);
    for (std::size_t i = labels.size(); i > 1; --i) {
        std::swap(labels[i - 1], labels[static_cast<std::size_t>(random.integer(static_cast<std::int64_t>(i)))]);
    }
    constexpr std::size_t stride = 8; // position, velocity, mass, internal energy
    std::vector<T> rows(stride * labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double at = labels[i] + 0.2 * random.normal();
            rows[stride * i + axis] = static_cast<T>(at - period * std::floor(at / period));
            rows[stride * i + 3 + axis] = static_cast<T>(9 * random.normal());
        }
        rows[stride * i + 6] = static_cast<T>(random.uniform(0.5, 2));
        rows[stride * i + 7] = static_cast<T>(random.uniform(0, 3));
    }
    const auto count = std::ssize(labels);
    const auto axes = [&](std::size_t first) {
        const void* const of_axes[] = {rows.data() + first, rows.data() + first + 1, rows.data() + first + 2};
        return PointsView(of_axes, dtype_of<T>, count, std::int64_t{stride * sizeof(T)});
    };
    Particles particles;
    particles.positions = axes(0);
    particles.velocities = axes(3);
    particles.masses = ScalarsView(rows.data() + 6, count, stride * sizeof(T));
    particles.internal_energies = ScalarsView(rows.data() + 7, count, stride * sizeof(T));
    std::vector<std::uint8_t> types;
    for (std::int64_t i = 0; i < count; ++i) {
        types.push_back(static_cast<std::uint8_t>(i % 7));
    }
    particles.types = types;
    if (plain) {
        particles = Particles{.positions = axes(0), .uniform_mass = 0.3};
    }

    FofSummary groups;
    groups.box = box;
    groups.sizes = GroupSizes(sizes);
    const Halos expected = kith::halos(labels, groups, particles, given);
    const Halos found = halos_on_device(labels, groups, particles, given);

    EXPECT_EQ(found.halos, expected.halos);
    EXPECT_EQ(found.group_offset, expected.group_offset);
    EXPECT_TRUE(std::ranges::equal(found.members(), expected.members()));
    EXPECT_EQ(found.energies, expected.energies);
    EXPECT_EQ(found.first_of_group, expected.first_of_group);
    EXPECT_EQ(found.options.softening->length, expected.options.softening->length);
    EXPECT_EQ(found.options.least_radius, expected.options.least_radius);
    expect_same(found, expected);
    std::string stages;
    for (const StageReport& stage : found.stages) {
        stages += stage.name + ' ';
    }
    EXPECT_EQ(stages, "upload order tree members unbind spheres ");
    return expected.halos;
}

TEST_F(HaloKernels, AnswerCalls) {
    EXPECT_GT(expect_the_hosts_answer<float>(options_of(spline)), 2);
    EXPECT_GT(expect_the_hosts_answer<double>(options_of(plummer)), 2);
    EXPECT_EQ(expect_the_hosts_answer<double>(options_of(plummer, 1000)), 0);
    HaloOptions whole = options_of(plummer);
    whole.unbind = false;
    EXPECT_EQ(expect_the_hosts_answer<float>(whole, true), 5);
    EXPECT_EQ(expect_the_hosts_answer<double>(whole, true, Box()), 5);
    HaloOptions by_separation = options_of(spline);
    by_separation.softening.reset();
    by_separation.outermost = true;
    EXPECT_GT(expect_the_hosts_answer<float>(by_separation), 2);
    by_separation.bound_only = true;
    EXPECT_GT(expect_the_hosts_answer<double>(by_separation), 2);
}

} // namespace
} // namespace kith::test
