// Catalogs over ranks that each have a GPU of their own, on two and on four emulated devices: those of one process.
#include "cuda/instances.hpp"
#include "emulation/ranks_on_devices.hpp"

#include "distributed/distributions.hpp"
#include "distributed/grouped_parts.hpp"
#include "halos/samples.hpp"
#include "support/cases.hpp"

#include <kith/catalog.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace kith::test {
namespace {

/// Holds the catalog of all ranks against that of one process, and the bytes that it reports against those that left the
/// devices; of a device at most 400 bytes a group come to the host, and 4 a member, and of particles there those members
/// that are sent.
void expect_catalog_of_one_process(const FofResult& groups, const Particles& particles, std::int64_t min_members,
                                   const RankFirsts& firsts, const DeviceOfRank& devices, OnGpu at = OnGpu::none) {
    const Catalog expected = catalog(groups, particles, {.min_members = min_members, .execution = cpu(1)});
    const int count = static_cast<int>(firsts.size()) - 1;
    std::vector<Catalog> parts(static_cast<std::size_t>(count));
    std::int64_t from_devices = 0;
    std::int64_t sent = 0;
    run_ranks_on_devices(count, 2, [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const int device = devices[rank % devices.size()];
        Particles mine = test::part_of(particles, firsts, ranks.rank());
        const PointsOfRank positions(mine.positions, ranks.rank(), device, at);
        mine.positions = positions.view();
        std::optional<PointsOfRank> velocities; // on the other side, where only some ranks have them on a GPU
        if (mine.velocities) {
            mine.velocities = velocities.emplace(*mine.velocities, ranks.rank() + 1, device, at).view();
        }
        parts[rank] = catalog_of_rank(ranks, test::part_of(groups, firsts, ranks.rank()), mine,
                                      {.min_members = min_members}, device);
        const std::int64_t bytes = parts[rank].distribution->traffic.bytes_from_device;
        sent += at == OnGpu::none ? 0 : parts[rank].distribution->traffic.bytes_sent;
        EXPECT_TRUE(device >= 0 || bytes == 0);
        from_devices += bytes;
        return bytes;
    });
    if (expected.groups > 0 && std::ranges::all_of(devices, [](int device) { return device >= 0; })) {
        EXPECT_GT(from_devices, 0);
    }
    EXPECT_LE(from_devices, 400 * expected.groups + 4 * expected.member_array.size() + sent);
    Catalog all;
    for (const Catalog& part : parts) {
        append(part, all);
    }
    EXPECT_EQ(all.member_array, expected.member_array) << count << " ranks";
    EXPECT_TRUE(same_values(all, expected)) << count << " ranks";
}

std::vector<std::int32_t> some_sizes() {
    std::vector<std::int32_t> sizes{300, 90, 41};
    sizes.insert(sizes.end(), 15, 12);
    sizes.insert(sizes.end(), 30, 3);
    sizes.insert(sizes.end(), 40, 1);
    return sizes;
}

template <class T>
class CatalogsOverGpus : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CatalogsOverGpus, Types);

TYPED_TEST(CatalogsOverGpus, AreThoseOfOneProcess) {
    for (const int dimension : {2, 3}) {
        if (!detail::dimension_is_on_device(dimension)) {
            continue;
        }
        const Sample<TypeParam> shuffled = sample<TypeParam>(some_sizes(), dimension, 401);
        const Sample<TypeParam> in_order = in_order_of_groups(shuffled); // most groups are on one rank
        const FofResult periodic = in_box(in_order.groups, Box::periodic(sample_period));
        const std::int64_t count = shuffled.count();
        if (dimension == 2) {
            expect_catalog_of_one_process(periodic, in_order.positions_only(), 12, evenly(count, 7), {1, -1});
            continue;
        }
        expect_catalog_of_one_process(shuffled.groups, shuffled.everything(), 3, evenly(count, 2), {0, 1});
        expect_catalog_of_one_process(shuffled.groups, shuffled.everything(), 3, evenly(count, 3), {0, 1}, OnGpu::all);
        expect_catalog_of_one_process(periodic, in_order.everything(), 1, unevenly(count, 4), {3, 0, 2, -1},
                                      OnGpu::every_other_rank);
        expect_catalog_of_one_process(periodic, in_order.everything(), 1, unevenly(count, 4), {3, 0, 2, 1});
        expect_catalog_of_one_process(periodic, in_order.everything(), 3, all_on(1, count, 3), {1, 0});
        expect_catalog_of_one_process(shuffled.groups, shuffled.everything(), 2, evenly(count, 1), {0});
    }
}

class CatalogsOverGpusIn3D : public NeedsDimension<3> {};

/// Differences of the members of one group overflow unless all are scaled, on every device.
TEST_F(CatalogsOverGpusIn3D, HaveUnitsOfAllRanks) {
    Sample<double> points = sample<double>({40, 30, 20}, 3, 402);
    std::vector<std::int32_t> place(90); // group 2 on the first ranks, so that the last has its part alone
    for (std::int32_t row = 0, first = 0, next = 20; row < 90; ++row) {
        const bool is_huge = points.groups.label_array[row] == 2;
        place[static_cast<std::size_t>(row)] = is_huge ? first++ : next++;
        for (std::int64_t i = 3 * row; is_huge && i < 3 * row + 3; ++i) {
            points.positions[static_cast<std::size_t>(i)] = row % 2 == 0 ? 1.5e308 : -1.5e308;
            points.velocities[static_cast<std::size_t>(i)] = row % 2 == 0 ? 1.5e308 : -1.5e308;
        }
    }
    points = permuted(points, place);
    for (const OnGpu at : on_gpus) {
        expect_catalog_of_one_process(points.groups, points.everything(), 1, {0, 10, 30, 90}, {0, 1}, at);
    }
}

TEST_F(CatalogsOverGpusIn3D, DescribeNothing) {
    const Sample<float> points = sample<float>({4, 3}, 3, 403);
    expect_catalog_of_one_process(points.groups, points.everything(), 5, evenly(7, 3), {0, 1});
    FofResult none = points.groups;
    none.label_array = {};
    none.sizes = {};
    none.groups = 0;
    expect_catalog_of_one_process(none, {PointsView(std::span<const float>(), 3)}, 1, evenly(0, 3), {0, 1});
}

TEST_F(CatalogsOverGpusIn3D, FailOnAllRanksWhereOneGpuIsMissingOrAMassIsWrong) {
    const Sample<float> points = sample<float>({40, 30, 20}, 3, 404);
    const RankFirsts firsts = evenly(90, 2);
    run_ranks_on_devices(2, 2, [&](Communicator& ranks) {
        const FofResult groups = test::part_of(points.groups, firsts, ranks.rank());
        const Particles particles = test::part_of(points.everything(), firsts, ranks.rank());
        EXPECT_TRUE(is_refused(ErrorKind::device, {"rank 1"}, [&] {
            (void)catalog_of_rank(ranks, groups, particles, {}, ranks.rank() == 0 ? 0 : 9);
        }));
        std::vector<float> masses(45, ranks.rank() == 1 ? std::numeric_limits<float>::infinity() : 1.0F);
        Particles wrong = particles;
        wrong.masses = ScalarsView(masses);
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"rank 1", "masses: row 0"},
                               [&] { (void)catalog_of_rank(ranks, groups, wrong, {}, ranks.rank()); }));
        return std::int64_t{0};
    });
}

} // namespace
} // namespace kith::test
