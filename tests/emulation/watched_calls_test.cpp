// That the watch over global memory sees the kernels of this program, and calls that no suite has.
#include "cuda/device_context.hpp"
#include "halos/device_entry.hpp"
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
                    detail::catalog_on_device({made.groups.labels(), made.groups.sizes}, particles, made.groups.box,
                                              {.min_members = min_members, .execution = cuda()});
                EXPECT_GT(emulation::watched_accesses(), before + 500);
                EXPECT_TRUE(same_values(found, expected));
                EXPECT_EQ(found.member_array, expected.member_array);
            }
        }
    }
}

} // namespace
} // namespace kith::test
