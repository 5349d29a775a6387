// HDBSCAN* over ranks against that of one process, which the oracle judges: every type, built dimension, point set and
// box, with and without ids, in slabs and in any order, where ranks have many points, few or none.
#include "distributed/distributions.hpp"
#include "mst/many_points.hpp"
#include "support/cases.hpp"

#include <kith/distributed.hpp>
#include <kith/hdbscan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

struct Clustering {
    std::int64_t min_cluster_size;
    HdbscanOptions options;
};

/// The rows of one rank of a column of all points.
template <class Value>
std::vector<Value> rows_of(const std::vector<Value>& column, std::span<const std::int64_t> rows) {
    std::vector<Value> part;
    for (const std::int64_t row : rows) {
        part.push_back(column[static_cast<std::size_t>(row)]);
    }
    return part;
}

void expect_part(const HdbscanResult& found, const HdbscanResult& whole, std::span<const std::int64_t> rows, int rank) {
    EXPECT_EQ(found.labels, rows_of(whole.labels, rows));
    EXPECT_EQ(found.probabilities, rows_of(whole.probabilities, rows));
    EXPECT_EQ(found.outlier_scores, rows_of(whole.outlier_scores, rows));
    EXPECT_EQ(found.core_distances, rows_of(whole.core_distances, rows));
    EXPECT_EQ(found.condensed_tree.last_clusters, rows_of(whole.condensed_tree.last_clusters, rows));
    EXPECT_EQ(found.condensed_tree.lambdas, rows_of(whole.condensed_tree.lambdas, rows));
    EXPECT_EQ(found.condensed_tree.clusters, whole.condensed_tree.clusters);
    EXPECT_EQ(found.sizes, whole.sizes);
    EXPECT_EQ(found.noise_points, whole.noise_points);
    EXPECT_EQ(found.edges, rank == 0 ? whole.edges : std::vector<SpanningEdge>());
    EXPECT_EQ(found.heights, rank == 0 ? whole.heights : std::vector<double>());
    EXPECT_EQ(found.min_samples, whole.min_samples);
    EXPECT_EQ(found.box, whole.box);
    EXPECT_EQ(found.wrapped_points, whole.wrapped_points);
    EXPECT_EQ(found.unresolved.count, whole.unresolved.count);
    EXPECT_EQ(found.shortest_length, whole.shortest_length);
    EXPECT_EQ(found.largest, whole.largest);
}

/// Finds the clusters of points over ranks, which have them in this order; with `has_ids`, ids restore the order.
template <class T>
void expect_those_of_one_process(const std::vector<T>& points, int dimension, const Clustering& call,
                                 const RankFirsts& firsts, bool has_ids, const RankOptions& of_ranks, Random& draw) {
    std::vector<std::int64_t> order(points.size() / static_cast<std::size_t>(dimension));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t i = std::ssize(order) - 1; has_ids && i > 0; --i) {
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(draw.integer(i + 1))]);
    }
    std::vector<T> given;
    for (const std::int64_t row : order) {
        given.insert(given.end(), points.begin() + row * dimension, points.begin() + (row + 1) * dimension);
    }
    HdbscanOptions options = call.options;
    options.execution = cpu(1);
    const HdbscanResult whole = hdbscan(PointsView(points, dimension), call.min_cluster_size, options);
    std::mutex one_at_a_time;
    run_ranks(static_cast<int>(firsts.size()) - 1, [&](Communicator& ranks) {
        const PointsView mine = part_of(PointsView(given, dimension), firsts, ranks.rank());
        const auto first = firsts[static_cast<std::size_t>(ranks.rank())];
        const auto rows =
            std::span(order).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(mine.count()));
        std::vector<std::int64_t> ids;
        for (std::size_t i = 0; has_ids && i < rows.size(); ++i) {
            ids.push_back((std::int64_t{1} << 33) + 3 * rows[i]);
        }
        RankOptions numbered = of_ranks;
        numbered.ids = ids;
        const HdbscanResult found = hdbscan(mine, call.min_cluster_size, over_ranks(ranks, options, numbered));
        const std::lock_guard lock(one_at_a_time);
        SCOPED_TRACE("rank " + std::to_string(ranks.rank()) + " of " + std::to_string(ranks.size()) + ", min_samples " +
                     std::to_string(found.min_samples));
        expect_part(found, whole, rows, ranks.rank());
        EXPECT_EQ(found.distribution->ranks, ranks.size());
        EXPECT_EQ(found.distribution->first, first);
        EXPECT_EQ(found.distribution->total, std::ssize(order));
        EXPECT_EQ(found.distribution->work.empty(), !(of_ranks.rebalance && ranks.size() > 1 && mine.count() > 0));
    });
}

class HdbscanOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, HdbscanOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(HdbscanOverRanks, HasTheClustersOfOneProcess) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 53 + static_cast<std::uint64_t>(set.dimension));
        const auto one_of = [&](const auto& values) {
            return values[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(std::size(values))))];
        };
        for (const NamedBox& named : set.boxes) {
            const Clustering call{
                2 + draw.integer(8),
                {.min_samples =
                     one_of(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 9, 40, set.count(), set.count() + 1}),
                 .selection = draw.integer(3) == 0 ? ClusterSelection::leaf : ClusterSelection::excess_of_mass,
                 .selection_epsilon = draw.integer(3) == 0 ? set.extent() * draw.uniform() * draw.uniform() : 0,
                 .max_cluster_size = draw.integer(4) == 0 ? 1 + draw.integer(60) : 0,
                 .allow_single_cluster = draw.integer(3) == 0,
                 .box = named.box}};
            SCOPED_TRACE("box " + named.name);
            const RankFirsts firsts = drawn_distribution(set.count(), one_of(rank_counts), draw);
            const bool has_ids = draw.integer(3) == 0;
            expect_those_of_one_process(draw.integer(3) == 0 ? set.coordinates : slabs, set.dimension, call, firsts,
                                        has_ids, {.rebalance = draw.integer(3) == 0}, draw);
        }
    });
}

class HdbscanOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(HdbscanOverRanksIn3D, OfEveryNumberOfRanks) {
    Random draw(307);
    for (const char* name : {"clustered", "lattice", "coincident", "few_distinct"}) {
        const PointSet<float> set = point_set<float>(name, 3);
        const std::vector<float> slabs = along_the_first_axis(set.coordinates, 3);
        for (const std::vector<float>* points : {&set.coordinates, &slabs}) {
            for (const int ranks : rank_counts) {
                for (const std::int64_t min_samples : {1, 5}) {
                    SCOPED_TRACE(std::string(name) + " over " + std::to_string(ranks));
                    expect_those_of_one_process(*points, 3, {5, {.min_samples = min_samples}},
                                                evenly(set.count(), ranks), false, {}, draw);
                }
            }
        }
    }
}

// Core distances of points at the border between ranks are smaller than among the rank's own points, by far.
TEST_F(HdbscanOverRanksIn3D, CoreDistancesReachOverRanks) {
    std::vector<float> points;
    Random draw(311);
    for (int i = 0; i < 60; ++i) { // each rank has every other point of two clumps
        for (int axis = 0; axis < 3; ++axis) {
            points.push_back(static_cast<float>((i % 2 == 0 ? 0 : 10) + draw.uniform()));
        }
    }
    for (const int ranks : {2, 3, 7, 60}) {
        expect_those_of_one_process(points, 3, {8, {.min_samples = 20}}, evenly(60, ranks), false, {}, draw);
        expect_those_of_one_process(points, 3, {8, {.min_samples = 20}}, evenly(60, ranks), true, {}, draw);
    }
}

// Enough points for many rounds, with core distances that many edges share.
TEST_F(HdbscanOverRanksIn3D, OfManyPoints) {
    const std::int64_t count = sized(4096);
    Random draw(313);
    for (const char* kind : {"halos", "lattice", "crowded places", "two clusters", "one far away", "growing steps"}) {
        const std::vector<float> scattered = many_points(kind, count);
        const std::vector<float> slabs = along_the_first_axis(scattered, 3);
        for (const int ranks : {2, 3, 8}) {
            SCOPED_TRACE(kind);
            expect_those_of_one_process(ranks == 3 ? scattered : slabs, 3, {10, {.min_samples = ranks == 2 ? 3 : 12}},
                                        evenly(count, ranks), false, {}, draw);
        }
    }
}

// Each point is sent once to and from rank 0, in 76 bytes. Of those that coincide on a rank, one takes part in rounds.
TEST_F(HdbscanOverRanksIn3D, OfCoincidentPointsFewTravel) {
    constexpr std::int64_t count = 20000;
    std::vector<float> points(3 * count, 0.25F);
    for (std::size_t i = 0; i < points.size(); i += 21) {
        points[i] = static_cast<float>(i % 5);
    }
    std::mutex adding;
    std::int64_t bytes = 0;
    run_ranks(4, [&](Communicator& ranks) {
        const HdbscanResult found = hdbscan(part_of(PointsView(points, 3), evenly(count, 4), ranks.rank()), 5,
                                            {.min_samples = 4, .execution = over(ranks, cpu(1))});
        const std::lock_guard lock(adding);
        bytes += found.distribution->traffic.bytes_received;
    });
    EXPECT_LT(bytes, 76 * count + 80000);
}

TEST_F(HdbscanOverRanksIn3D, RefuseWhatDiffersOrNeedsAllPoints) {
    const std::vector<float> points = uniform_points<float>(60, 3, 0, 1, 5);
    run_ranks(3, [&](Communicator& ranks) {
        const PointsView mine = part_of(PointsView(points, 3), evenly(60, 3), ranks.rank());
        const Execution execution = over(ranks, cpu(1));
        constexpr ErrorKind invalid = ErrorKind::invalid_argument;
        EXPECT_TRUE(is_refused(invalid, {"min_cluster_size", "5 on rank 1", "4 on rank 0"}, [&] {
            (void)hdbscan(mine, 4 + (ranks.rank() == 1 ? 1 : 0), {.execution = execution});
        }));
        EXPECT_TRUE(is_refused(invalid, {"selection_epsilon", "rank 2"}, [&] {
            (void)hdbscan(mine, 4, {.selection_epsilon = ranks.rank() == 2 ? 0.5 : 0, .execution = execution});
        }));
        EXPECT_TRUE(is_refused(invalid, {"min_cluster_size is 1"},
                               [&] { (void)hdbscan(mine, ranks.rank() == 2 ? 1 : 4, {.execution = execution}); }));
        const HdbscanResult found = hdbscan(mine, 4, {.execution = execution});
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"one rank's points"}, [&] { (void)found.cut(0.1); }));
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"one rank's points"},
                               [&] { (void)approximate_predict(found, mine, mine); }));
    });
}

} // namespace
} // namespace kith::test
