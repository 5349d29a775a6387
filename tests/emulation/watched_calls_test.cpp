// That the watch over global memory sees the kernels of this program, and calls that no suite has.
#include "cuda/device_context.hpp"
#include "halos/device_entry.hpp"
#include "halos/halos_on_device.hpp"
#include "halos/samples.hpp"
#include "support/cases.hpp"
#include "tree/device_entry.hpp"

#include "cuda_emulation/watch.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

TEST(WatchedCalls, AreSeen) {
    const std::vector<float> points = uniform_points<float>(300, 3, 0, 1, 1);
    const std::uint64_t before = emulation::watched_accesses();
    detail::DeviceContext context(cuda());
    (void)detail::build_tree_on_device<float, 3>(context, PointsView(points, 3), Box(), {});
    context.wait();
    EXPECT_GT(emulation::watched_accesses(), before + 300 * 3);
}

TEST(WatchedCalls, MakeTheCatalogOfTheCpu) {
    for (const double period : {0.0, sample_period}) {
        Sample<float> made = sample<float>({300, 64, 33, 32, 31, 20, 19, 3, 1, 1}, 3, 7);
        made.groups.box = period > 0 ? Box::periodic(period) : Box();
        for (const Particles& particles : {made.everything(), made.positions_only()}) {
            for (const std::int64_t min_members : {1, 20}) {
                const Catalog expected =
                    catalog(made.groups, particles, {.min_members = min_members, .execution = cpu(1)});
                const std::uint64_t before = emulation::watched_accesses();
                const Catalog found =
                    detail::catalog_on_device({made.groups.labels(), made.groups.sizes}, particles, made.groups,
                                              {.min_members = min_members, .execution = cuda()});
                EXPECT_GT(emulation::watched_accesses(), before + 500);
                EXPECT_TRUE(same_values(found, expected));
                EXPECT_EQ(found.member_array, expected.member_array);
            }
        }
    }
}

TEST(WatchedCalls, DescribeTheHalosOfTheCpu) {
    auto made = mock<float>(1000, {200, 40, 30}, 8);
    made.types.assign(made.masses.size(), 2);
    for (const bool outermost : {false, true}) {
        for (const bool bound_only : {false, true}) {
            made.options.outermost = outermost;
            made.options.bound_only = bound_only;
            const Halos expected = made.halos();
            const std::uint64_t before = emulation::watched_accesses();
            const Halos found = found_on_device(made, {.limits = {.halos = 2, .particles = 300}});
            EXPECT_GT(emulation::watched_accesses(), before + 10000);
            expect_same(found, expected);
        }
    }
}

TEST(WatchedCalls, FindTheHalosOfTheCpu) {
    const HaloSample<float> made = mock<float>(900, {300, 40}, 32);
    std::vector<std::int32_t> labels(made.masses.size(), -1);
    for (std::int32_t group = 0; group < 2; ++group) {
        for (std::int64_t i = made.offset[group]; i < made.offset[group + 1]; ++i) {
            labels[made.members[i]] = group;
        }
    }
    FofSummary groups;
    groups.box = made.box();
    groups.sizes = GroupSizes(std::vector<std::int32_t>{300, 40});
    const Particles particles{.positions = PointsView(made.positions, 3),
                              .velocities = PointsView(made.velocities, 3),
                              .masses = ScalarsView(made.masses)};
    const HaloOptions options{.universe = made.universe, .softening = made.softening};
    const std::uint64_t before = emulation::watched_accesses();
    const Halos found = halos_on_device(labels, groups, particles, options);
    EXPECT_GT(emulation::watched_accesses(), before + 10000);
    const Halos expected = halos(labels, groups, particles, options);
    EXPECT_GT(expected.halos, 0);
    EXPECT_EQ(found.energies, expected.energies);
    expect_same(found, expected);
}

} // namespace
} // namespace kith::test
