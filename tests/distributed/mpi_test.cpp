// Ranks that are MPI's processes: every rank runs all tests, and mpirun fails if one does.
#include "distributed/collective_checks.hpp"
#include "distributed/distributions.hpp"
#include "support/cases.hpp"
#include "support/cores.hpp"

#include <kith/dbscan.hpp>
#include <kith/distributed.hpp>
#include <kith/hdbscan.hpp>
#include <kith/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

TEST(Mpi, CollectiveCalls) {
    for (const std::int64_t largest_message : {std::int64_t{1} << 30, std::int64_t{7}}) {
        MpiCommunicator ranks(MPI_COMM_WORLD, largest_message); // small ones cut every message
        expect_all_reduce(ranks);
        expect_all_gather(ranks);
        expect_exchange(ranks);
    }
}

/// Neighbors and groups over all ranks against those of one process with the same points by ascending id.
template <class T>
void expect_the_bits_of_one_process(MpiCommunicator& ranks, const PointsView& points, const Box& box, double length,
                                    const RankFirsts& firsts, std::int64_t first_id) {
    const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]);
    const PointsView mine = part_of(points, firsts, ranks.rank());
    const auto count = static_cast<std::size_t>(mine.count());
    std::vector<std::int64_t> ids(first_id > 0 ? count : 0);
    std::iota(ids.begin(), ids.end(), first_id + static_cast<std::int64_t>(first));
    const std::vector<float> weights = weights_for(mine.count());
    const RankOptions numbered{.ids = ids, .rebalance = points.count() % 2 == 0, .weights = weights};

    const KnnResult rows = knn(points, 9, {.box = box, .index_type = IndexType::int64, .execution = cpu(1)});
    const KnnResult found = knn(mine, 9, {.box = box, .execution = over(ranks, cpu(1), numbered)});
    EXPECT_TRUE(std::ranges::equal(found.indices64(), rows.indices64().subspan(9 * first, 9 * count), {}, {},
                                   [&](std::int64_t index) { return index < 0 ? -1 : first_id + index; }));
    EXPECT_TRUE(std::ranges::equal(found.distances<T>(), rows.distances<T>().subspan(9 * first, 9 * count)));

    const FofOptions options{.box = box, .execution = cpu(1)};
    const FofResult groups = fof(points, LinkingLength::absolute(length), options);
    const FofResult labeled = fof(mine, LinkingLength::absolute(length), over_ranks(ranks, options, numbered));
    EXPECT_TRUE(std::ranges::equal(labeled.labels64(), std::span(groups.labels()).subspan(first, count)));
    EXPECT_EQ(labeled.groups, groups.groups);

    const DbscanResult clusters = dbscan(points, length, 4, {.box = box, .execution = cpu(1)});
    const DbscanResult clustered = dbscan(mine, length, 4, {.box = box, .execution = over(ranks, cpu(1), numbered)});
    EXPECT_TRUE(std::ranges::equal(clustered.labels64(), std::span(clusters.labels()).subspan(first, count)));
    EXPECT_TRUE(std::ranges::equal(clustered.is_core, std::span(clusters.is_core).subspan(first, count)));
    EXPECT_EQ(clustered.sizes, clusters.sizes);

    const HdbscanOptions of_densities{.min_samples = 4, .box = box, .execution = cpu(1)};
    const HdbscanResult dense = hdbscan(points, 6, of_densities);
    const HdbscanResult dense_here = hdbscan(mine, 6, over_ranks(ranks, of_densities, numbered));
    EXPECT_TRUE(std::ranges::equal(dense_here.labels, std::span(dense.labels).subspan(first, count)));
    EXPECT_TRUE(std::ranges::equal(dense_here.outlier_scores, std::span(dense.outlier_scores).subspan(first, count)));
    EXPECT_EQ(dense_here.condensed_tree.clusters, dense.condensed_tree.clusters);
}

/// In turn slabs, a few points on some ranks and none on others, all on the last rank; without ids, and with ids around
/// 2^31 and far beyond.
template <class T>
void expect_the_bits_of_one_process(MpiCommunicator& ranks, int dimension) {
    if (!is_built(dimension)) {
        return;
    }
    auto turn = static_cast<std::size_t>(dimension + ranks.size()) + sizeof(T);
    for (const char* name : {"two", "clustered", "coincident", "slightly_outside"}) {
        const PointSet<T> set = point_set<T>(name, dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, dimension);
        const NamedBox& named = set.boxes.back();
        const std::size_t how = turn++ % 3;
        const RankFirsts firsts = how == 0   ? evenly(set.count(), ranks.size())
                                  : how == 1 ? unevenly(set.count(), ranks.size())
                                             : all_on(ranks.size() - 1, set.count(), ranks.size());
        const std::int64_t first_id =
            std::array{std::int64_t{0}, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 62}[turn / 2 % 3];
        SCOPED_TRACE(std::string(name) + ", " + named.name + ", dimension " + std::to_string(dimension) +
                     ", distribution " + std::to_string(how) + ", first id " + std::to_string(first_id));
        expect_the_bits_of_one_process<T>(ranks, PointsView(slabs, dimension), named.box, set.extent() * 0.05, firsts,
                                          first_id);
    }
}

TEST(Mpi, NeighborsAndGroupsHaveTheBitsOfOneProcess) {
    MpiCommunicator ranks(MPI_COMM_WORLD, 1000);
    expect_the_bits_of_one_process<float>(ranks, 3);
    expect_the_bits_of_one_process<double>(ranks, 2);
    expect_the_bits_of_one_process<double>(ranks, 3);
    expect_the_bits_of_one_process<float>(ranks, 6);
}

TEST(Mpi, RanksOfAMachineShareItsCores) { // all of the test are on one
    MpiCommunicator ranks(MPI_COMM_WORLD);
    const std::vector<int> cores = detail::usable_cores();
    std::vector<int> users = cores;
    MPI_Allreduce(MPI_IN_PLACE, users.data(), static_cast<int>(users.size()), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(ranks.threads(), detail::share_of_cores(cores, users));
    MpiCommunicator alone(MPI_COMM_SELF);
    EXPECT_EQ(alone.threads(), std::ranges::count(cores, 1));
}

TEST(Mpi, AnErrorOfOneRankIsThrownByAll) {
    if (!is_built(3)) {
        GTEST_SKIP() << "dimension 3 is not built";
    }
    MpiCommunicator ranks(MPI_COMM_WORLD);
    const int bad = ranks.size() - 1;
    std::vector<float> points = uniform_points<float>(20, 3, 0, 1, 95);
    if (ranks.rank() == bad) {
        points[3 * 7] = std::numeric_limits<float>::quiet_NaN();
    }
    const std::string prefix = ranks.size() == 1 ? "" : "rank " + std::to_string(bad) + ": ";
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {prefix + "points: point 7 has NaN"},
                           [&] { (void)knn(PointsView(points, 3), 3, {.execution = over(ranks)}); }));
}

TEST(Mpi, WhatIsNoCommunicator) {
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"MPI_COMM_NULL"}, [] { MpiCommunicator none(MPI_COMM_NULL); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"largest_message is 0"},
                           [] { MpiCommunicator none(MPI_COMM_WORLD, 0); }));
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1) {
        return;
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"largest_message is 7 on one rank and 8 on another"},
                           [&] { MpiCommunicator none(MPI_COMM_WORLD, rank == 1 ? 7 : 8); }));
    const int group = rank == 0 ? 0 : 1; // rank 0, and all others
    MPI_Comm within = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, group, rank, &within);
    MPI_Intercomm_create(within, 0, MPI_COMM_WORLD, 1 - group, 0, &between);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"intercommunicator", "MPI_Intercomm_merge"},
                           [&] { MpiCommunicator none(between); }));
    MPI_Comm_free(&between);
    MPI_Comm_free(&within);
}

} // namespace
} // namespace kith::test

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    testing::InitGoogleTest(&argc, argv);
    int failed = 0;
    {
        std::optional<kith::MpiCommunicator> outlives(MPI_COMM_WORLD);
        failed = RUN_ALL_TESTS();
        // The number of failures of all: mpirun need not see the status of every process.
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Finalize();
    } // after MPI has ended there is nothing to free
    const testing::AssertionResult refused = kith::test::is_refused(
        kith::ErrorKind::invalid_argument, {"MPI is not running"}, [] { kith::MpiCommunicator late(MPI_COMM_WORLD); });
    if (!refused) { // no test is running that could fail
        std::fprintf(stderr, "%s\n", refused.message());
    }
    return failed != 0 || !refused ? 1 : 0;
}
