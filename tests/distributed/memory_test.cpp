// Memory of calls over ranks beside that of the serial call on the same points: the highest resident memory of a
// process that makes the call, beyond what it was before. All ranks are in one process, so it is that of all of them.
#include "support/cases.hpp"

#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/dbscan.hpp>
#include <kith/distributed.hpp>
#include <kith/fof.hpp>
#include <kith/hdbscan.hpp>
#include <kith/knn.hpp>
#include <kith/pair_counts.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/sum_neighbors.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kith::test {
namespace {

std::int64_t highest_resident_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

/// What call() takes at most, in bytes, in a process of its own; -1 if that fails.
template <class Call>
std::int64_t memory_of(const Call& call) {
    int ends[2];
    if (pipe(ends) != 0) {
        return -1;
    }
    const pid_t child = fork();
    if (child == 0) {
        const std::int64_t before = highest_resident_bytes();
        call();
        const std::int64_t bytes = highest_resident_bytes() - before;
        _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
    }
    close(ends[1]);
    std::int64_t bytes = -1;
    const bool is_read = read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
    close(ends[0]);
    int status = 1;
    waitpid(child, &status, 0);
    return is_read && status == 0 ? bytes : -1;
}

/// Blocks of a periodic box, four ranks side by side on two axes.
std::vector<std::vector<float>> blocks_of(std::int64_t points) {
    std::vector<std::vector<float>> blocks(4);
    const std::vector<float> all = uniform_points<float>(points, 3, 0, 1, 17);
    for (std::size_t i = 0; i < all.size(); i += 3) {
        auto& block = blocks[(all[i] < 0.5F ? 0U : 1U) + (all[i + 1] < 0.5F ? 0U : 2U)];
        block.insert(block.end(), {all[i], all[i + 1], all[i + 2]});
    }
    return blocks;
}

/// A quarter more than the serial call for each point, and a little for each rank.
template <class Serial, class OfRank>
void expect_little_more_than_serial(const Serial& serial, const OfRank& of_rank) {
    constexpr std::int64_t count = 400'000;
    constexpr std::int64_t of_each_rank = std::int64_t{1} << 20;
    const std::vector<std::vector<float>> blocks = blocks_of(count);
    std::vector<float> all;
    for (const std::vector<float>& block : blocks) {
        all.insert(all.end(), block.begin(), block.end());
    }
    const auto ranks = static_cast<int>(blocks.size());
    const std::int64_t serial_bytes = memory_of([&] { serial(PointsView(all, 3)); });
    const std::int64_t rank_bytes = memory_of([&] {
        run_ranks(ranks, [&](Communicator& communicator) {
            of_rank(communicator, PointsView(blocks[static_cast<std::size_t>(communicator.rank())], 3));
        });
    });
    testing::Test::RecordProperty("serial_bytes_of_a_point", std::to_string(serial_bytes / count));
    testing::Test::RecordProperty("bytes_of_a_point", std::to_string(rank_bytes / count));
    ASSERT_GT(serial_bytes, count * 8);
    EXPECT_GT(rank_bytes, count * 8);
    EXPECT_LE(rank_bytes, serial_bytes + serial_bytes / 4 + ranks * of_each_rank)
        << static_cast<double>(rank_bytes) / count << " bytes a point over ranks, "
        << static_cast<double>(serial_bytes) / count << " in one process";
}

/// A sanitizer's memory would be measured too.
class RankMemory : public NeedsDimension<3> {
protected:
    void SetUp() override {
        NeedsDimension<3>::SetUp();
        if (small_tests) {
            GTEST_SKIP() << "the memory of this build is not that of a user's";
        }
    }
};

TEST_F(RankMemory, OfNeighborsIsLittleMoreThanThatOfOneProcess) {
    const KnnOptions options{
        .box = Box::periodic(1), .exclude_self = true, .index_type = IndexType::int64, .execution = cpu(1)};
    expect_little_more_than_serial(
        [&](const PointsView& points) { (void)knn(points, 16, options); },
        [&](Communicator& ranks, const PointsView& points) { (void)knn(points, 16, over_ranks(ranks, options)); });
}

TEST_F(RankMemory, OfNeighborCountsIsLittleMoreThanThatOfOneProcess) {
    const RadiusOptions options{.box = Box::periodic(1), .execution = cpu(1)};
    expect_little_more_than_serial([&](const PointsView& points) { (void)radius_count(points, 0.02, options); },
                                   [&](Communicator& ranks, const PointsView& points) {
                                       (void)radius_count(points, 0.02, over_ranks(ranks, options));
                                   });
}

TEST_F(RankMemory, OfVisitedNeighborsIsLittleMoreThanThatOfOneProcess) {
    const KnnOptions options{.box = Box::periodic(1), .exclude_self = true, .execution = cpu(1)};
    const auto visit = [](const NeighborBlock&) {};
    expect_little_more_than_serial([&](const PointsView& points) { (void)knn_visit(visit, points, 16, options); },
                                   [&](Communicator& ranks, const PointsView& points) {
                                       (void)knn_visit(visit, points, 16, over_ranks(ranks, options));
                                   });
}

TEST_F(RankMemory, OfSumsIsLittleMoreThanThatOfOneProcess) {
    const SumOptions options{.box = Box::periodic(1), .execution = cpu(1)};
    for (const Neighborhood& neighborhood : {Neighborhood(Nearest{16}), Neighborhood(Within{0.02})}) {
        expect_little_more_than_serial(
            [&](const PointsView& points) { (void)sum_neighbors(points, neighborhood, options); },
            [&](Communicator& ranks, const PointsView& points) {
                (void)sum_neighbors(points, neighborhood, over_ranks(ranks, options));
            });
    }
}

// All 36 million neighbors that each rank finds among points of the other would take 576 MB.
TEST_F(RankMemory, OfSumsDoesNotGrowWithTheNeighbors) {
    constexpr std::int64_t count = 12'000;
    const std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 18);
    const Within all{2.0};
    const std::int64_t bytes = memory_of([&] {
        run_ranks(2, [&](Communicator& ranks) {
            const PointsView own = PointsView(points, 3).subview(ranks.rank() * count / 2, count / 2);
            (void)sum_neighbors(own, all, over_ranks(ranks, SumOptions{.execution = cpu(1)}));
        });
    });
    RecordProperty("bytes", std::to_string(bytes));
    ASSERT_GT(bytes, count * 8);
    EXPECT_LE(bytes, std::int64_t{192} << 20);
}

TEST_F(RankMemory, OfPairCountsIsLittleMoreThanThatOfOneProcess) {
    const PairCountOptions options{.box = Box::periodic(1), .execution = cpu(1)};
    const std::vector<double> edges{0, 0.005, 0.01};
    expect_little_more_than_serial([&](const PointsView& points) { (void)pair_counts(points, edges, options); },
                                   [&](Communicator& ranks, const PointsView& points) {
                                       (void)pair_counts(points, edges, over_ranks(ranks, options));
                                   });
}

TEST_F(RankMemory, OfGroupsIsLittleMoreThanThatOfOneProcess) {
    const FofOptions options{.box = Box::periodic(1), .execution = cpu(1)};
    const LinkingLength length = LinkingLength::relative(0.2);
    expect_little_more_than_serial(
        [&](const PointsView& points) { (void)fof(points, length, options); },
        [&](Communicator& ranks, const PointsView& points) { (void)fof(points, length, over_ranks(ranks, options)); });
}

TEST_F(RankMemory, OfClustersIsLittleMoreThanThatOfOneProcess) {
    const DbscanOptions options{.box = Box::periodic(1), .execution = cpu(1)};
    expect_little_more_than_serial([&](const PointsView& points) { (void)dbscan(points, 0.008, 5, options); },
                                   [&](Communicator& ranks, const PointsView& points) {
                                       (void)dbscan(points, 0.008, 5, over_ranks(ranks, options));
                                   });
}

TEST_F(RankMemory, OfSpanningTreesIsLittleMoreThanThatOfOneProcess) {
    const SpanningTreeOptions options{.box = Box::periodic(1), .execution = cpu(1)};
    expect_little_more_than_serial([&](const PointsView& points) { (void)spanning_tree(points, options); },
                                   [&](Communicator& ranks, const PointsView& points) {
                                       (void)spanning_tree(points, over_ranks(ranks, options));
                                   });
}

// Rows of 64 neighbors would take 768 bytes a point.
TEST_F(RankMemory, OfCoreDistancesDoesNotGrowWithTheNeighbors) {
    constexpr std::int64_t count = 200'000;
    const std::vector<std::vector<float>> blocks = blocks_of(count);
    const auto bytes_with = [&](std::int64_t min_samples) {
        return memory_of([&] {
            run_ranks(static_cast<int>(blocks.size()), [&](Communicator& ranks) {
                const HdbscanOptions options{.min_samples = min_samples, .box = Box::periodic(1), .execution = cpu(1)};
                (void)hdbscan(PointsView(blocks[static_cast<std::size_t>(ranks.rank())], 3), 50,
                              over_ranks(ranks, options));
            });
        });
    };
    const std::int64_t of_two = bytes_with(2);
    const std::int64_t of_many = bytes_with(65);
    RecordProperty("bytes_of_a_point", std::to_string(of_many / count));
    ASSERT_GT(of_two, count * 8);
    EXPECT_LE(of_many, of_two + 100 * count)
        << static_cast<double>(of_two) / count << " bytes a point with 1 neighbor, "
        << static_cast<double>(of_many) / count << " with 64";
}

} // namespace
} // namespace kith::test
