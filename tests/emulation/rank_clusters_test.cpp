// DBSCAN over ranks that each have a GPU of their own, on two and on four emulated devices: the clusters of one process.
#include "cuda/instances.hpp"
#include "emulation/ranks_on_devices.hpp"

#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/dbscan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::test {
namespace {

class ClustersOverGpus : public testing::TestWithParam<Case> {};

struct Density {
    double eps;
    std::int64_t min_samples;
    DbscanOptions options;
};

/// Holds every rank's labels, flags and what it knows of all clusters against those of one process; and the bytes that
/// the result reports against those that left the devices.
void expect_clusters_of_one_process(const PointsView& points, const Density& wanted, const RankFirsts& firsts,
                                    const DeviceOfRank& devices, bool rebalance = false, OnGpu at = OnGpu::none,
                                    bool is_direct = true) {
    const int count = static_cast<int>(firsts.size()) - 1;
    DbscanOptions alone = wanted.options;
    alone.execution = cpu(1);
    const DbscanResult expected = dbscan(points, wanted.eps, wanted.min_samples, alone);
    run_ranks_on_devices(count, 4, is_direct, [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const int device = devices[rank % devices.size()];
        const PointsOfRank points_here(part_of(points, firsts, ranks.rank()), ranks.rank(), device, at);
        const PointsView& mine = points_here.view();
        const DbscanResult found =
            clusters_of_rank(ranks, mine, wanted.eps, wanted.min_samples, alone, {.rebalance = rebalance}, device);
        const auto first = static_cast<std::size_t>(firsts[rank]);
        const auto rows = static_cast<std::size_t>(mine.count());
        EXPECT_TRUE(std::ranges::equal(found.labels64(), std::span(expected.labels()).subspan(first, rows)))
            << "rank " << rank << " of " << count;
        EXPECT_TRUE(std::ranges::equal(found.is_core, std::span(expected.is_core).subspan(first, rows)))
            << "rank " << rank << " of " << count;
        EXPECT_EQ(found.clusters, expected.clusters);
        EXPECT_EQ(found.sizes, expected.sizes);
        EXPECT_EQ(found.core_points, expected.core_points);
        EXPECT_EQ(found.noise_points, expected.noise_points);
        EXPECT_EQ(found.eps, expected.eps);
        EXPECT_EQ(found.box, expected.box);
        const std::int64_t from_device = found.distribution->traffic.bytes_from_device;
        EXPECT_TRUE(device >= 0 || from_device == 0);
        return from_device;
    });
}

INSTANTIATE_TEST_SUITE_P(
    Sets, ClustersOverGpus,
    testing::ValuesIn(cases_of({"empty", "two", "clustered", "lattice", "coincident", "slightly_outside"})), case_name);

TEST_P(ClustersOverGpus, AreThoseOfOneProcess) {
    if (!detail::dimension_is_on_device(GetParam().dimension)) {
        GTEST_SKIP() << "dimension " << GetParam().dimension << " is not emulated";
    }
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> slabs = along_the_first_axis(first_points<T>(GetParam(), 300), set.dimension);
        const PointsView view(slabs, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 37 + sizeof(T));
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            const Density wanted{set.extent() * (draw.integer(2) == 0 ? 0.05 : 0.15) + 1e-3,
                                 static_cast<std::int64_t>(2 + draw.integer(6)),
                                 {.box = named.box, .star = draw.integer(4) == 0}};
            const int ranks = static_cast<int>(1 + draw.integer(4));
            const DeviceOfRank devices = draw.integer(2) == 0 ? DeviceOfRank{0, 1} : DeviceOfRank{3, 0, 2, 1};
            expect_clusters_of_one_process(view, wanted, drawn_distribution(view.count(), ranks, draw), devices, false,
                                           on_gpus[draw.integer(3)], draw.integer(3) > 0);
        }
    });
}

class ClustersOverGpusIn3D : public NeedsDimension<3> {
protected:
    std::vector<float> slabs_ = along_the_first_axis(first_points<float>({DType::float32, 3, "clustered"}, 300), 3);
    PointsView points_{slabs_, 3};
};

TEST_F(ClustersOverGpusIn3D, OfEveryNumberOfRanks) {
    const double extent = point_set<float>("clustered", 3).extent();
    const DbscanResult whole = dbscan(points_, 0.08 * extent, 5, {.execution = cpu(1)});
    ASSERT_GT(whole.clusters, 1);
    ASSERT_GT(whole.noise_points, 0);
    ASSERT_LT(whole.core_points + whole.noise_points, points_.count()); // there are border points
    for (const int ranks : {1, 2, 3, 5, 7}) {
        expect_clusters_of_one_process(points_, {0.08 * extent, 5, {}}, evenly(points_.count(), ranks), {0, 1, 2, 3});
    }
    const RankFirsts uneven = unevenly(points_.count(), 4);
    expect_clusters_of_one_process(points_, {0.08 * extent, 5, {}}, uneven, {1, -1}); // and a CPU
    expect_clusters_of_one_process(points_, {0.08 * extent, 5, {}}, uneven, {0, 1, 2, 3}, true, OnGpu::all);
    expect_clusters_of_one_process(points_, {0.08 * extent, 5, {}}, evenly(points_.count(), 4), {0, 1}, false,
                                   OnGpu::all);
    expect_clusters_of_one_process(points_, {0.08 * extent, 1, {}}, uneven, {0, 1});   // all are core points
    expect_clusters_of_one_process(points_, {0.08 * extent, 301, {}}, uneven, {0, 1}); // none is
    expect_clusters_of_one_process(points_, {0.08 * extent, 40, {}}, all_on(1, points_.count(), 3), {0, 1});
}

// What leaves a device: nodes, flags, and for each point its row, its component and twice its cluster; no coordinates.
TEST_F(ClustersOverGpusIn3D, BringFlagsAndNodesToTheHost) {
    constexpr std::int64_t count = 4000;
    const std::vector<float> slabs = along_the_first_axis(uniform_points<float>(count, 3, 0, 1, 83), 3);
    const RankFirsts firsts = evenly(count, 2);
    std::array<Traffic, 2> from_host;
    for (const OnGpu at : {OnGpu::none, OnGpu::all}) {
        run_ranks_on_devices(2, 4, [&](Communicator& ranks) {
            const PointsOfRank here(part_of(PointsView(slabs, 3), firsts, ranks.rank()), ranks.rank(), ranks.rank(),
                                    at);
            const PointsView& mine = here.view();
            const DbscanResult found = clusters_of_rank(ranks, mine, 0.06, 4, {}, {}, ranks.rank());
            EXPECT_GT(found.noise_points, 0);
            const Traffic& traffic = found.distribution->traffic;
            const std::int64_t bytes = traffic.bytes_from_device;
            Traffic& host = from_host[static_cast<std::size_t>(ranks.rank())];
            if (at == OnGpu::none) {
                host = traffic;
                EXPECT_GE(bytes, mine.count() * (4 + 4 + 1));
                EXPECT_LE(bytes, mine.count() * (4 + 4 + 4 + 2 * 4 + 2 + 20)); // 20: nodes of both trees
            } else { // besides, distances of the points in leaves that requests reach, this rank's own included
                EXPECT_EQ(traffic.bytes_sent, host.bytes_sent);
                EXPECT_LE(bytes - host.bytes_from_device, 2 * 4 * mine.count());
            }
            return bytes;
        });
    }
}

TEST_F(ClustersOverGpusIn3D, FailOnAllRanksWhereOneGpuIsMissing) {
    const RankFirsts firsts = evenly(points_.count(), 2);
    run_ranks_on_devices(2, 4, [&](Communicator& ranks) {
        EXPECT_TRUE(is_refused(ErrorKind::device, {"rank 1"}, [&] {
            (void)clusters_of_rank(ranks, test::part_of(points_, firsts, ranks.rank()), 0.1, 5, {}, {},
                                   ranks.rank() == 0 ? 0 : 9);
        }));
        return std::int64_t{0};
    });
}

} // namespace
} // namespace kith::test
