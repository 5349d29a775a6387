// Points that are moved between ranks: each comes back with its own answer, and ranks get about as many. What searches
// make of moved points is tested with the searches.
#include "distributed/distributions.hpp"
#include "distributed/rebalance.hpp"
#include "support/cases.hpp"

#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>
#include <kith/pair_counts.hpp>
#include <kith/radius.hpp>
#include <kith/sum_neighbors.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class Rebalance : public NeedsDimension<3> {};

TEST_F(Rebalance, GivesRanksEquallyManyAndBringsAnswersBack) {
    const std::vector<float> spread = uniform_points<float>(6000, 3, -1, 1, 701);
    const std::vector<float> coincident(18000, 0.5F);
    for (const std::vector<float>* points : {&spread, &coincident}) {
        for (const RankFirsts& firsts : {all_on(1, 6000, 4), unevenly(6000, 4), evenly(6000, 4)}) {
            run_ranks(4, [&](Communicator& communicator) {
                detail::Ranks ranks(communicator);
                detail::Context context(cpu(1));
                const PointsView mine = part_of({*points, 3}, firsts, ranks.rank());
                const detail::SharedPoints<float> shared = detail::share_frame<float>(ranks, context, mine, Box{});
                const detail::PointWeights alike;
                const detail::CurveDivision<float> division(ranks, context, shared, alike, 0.01);
                const detail::MovedPoints<float> moved(
                    ranks, context, [&](std::int64_t first_row) { return division.ranks_of(mine, first_row); }, mine,
                    {}, alike);
                EXPECT_GT(moved.view().count(), 1000) << "rank " << ranks.rank();
                EXPECT_LT(moved.view().count(), 2000) << "rank " << ranks.rank();
                std::vector<double> sums;
                for (std::int64_t i = 0; i < moved.view().count(); ++i) {
                    EXPECT_TRUE(i == 0 || moved.ids()[static_cast<std::size_t>(i)] >
                                              moved.ids()[static_cast<std::size_t>(i) - 1]);
                    sums.push_back(static_cast<double>(moved.ids()[static_cast<std::size_t>(i)]));
                    sums.push_back(moved.view().coordinate(i, 2));
                }
                std::vector<double> back(static_cast<std::size_t>(2 * mine.count()));
                moved.bring_back(std::span<const double>(sums), 2, std::span(back));
                for (std::int64_t i = 0; i < mine.count(); ++i) {
                    EXPECT_EQ(back[static_cast<std::size_t>(2 * i)],
                              static_cast<double>(firsts[static_cast<std::size_t>(ranks.rank())] + i));
                    EXPECT_EQ(back[static_cast<std::size_t>(2 * i + 1)], mine.coordinate(i, 2));
                }
            });
        }
    }
}

TEST_F(Rebalance, LeavesLittleToFetchOfScatteredPoints) {
    const std::vector<float> points = uniform_points<float>(20000, 3, 0, 1, 702); // on any rank
    std::int64_t fetched = 0;
    run_ranks(4, [&](Communicator& communicator) {
        detail::Ranks ranks(communicator);
        detail::Context context(cpu(1));
        const PointsView mine = part_of({points, 3}, evenly(20000, 4), ranks.rank());
        const detail::SharedPoints<float> shared = detail::share_frame<float>(ranks, context, mine, Box{});
        const detail::PointWeights alike;
        const detail::CurveDivision<float> division(ranks, context, shared, alike, 0.01);
        const detail::MovedPoints<float> moved(
            ranks, context, [&](std::int64_t first_row) { return division.ranks_of(mine, first_row); }, mine, {},
            alike);
        const std::int64_t bytes =
            knn(moved.view(), 4, {.execution = over(communicator, cpu(1))}).distribution->traffic.bytes_received;
        const std::int64_t sum = ranks.sum(bytes);
        if (ranks.rank() == 0) {
            fetched = sum;
        }
    });
    EXPECT_LT(fetched, 20000 * 16); // scattered, each rank fetches most points of all others: three times as much
}

/// A twentieth of all points at one end of the box cost twenty times as much as all others.
struct Skewed {
    std::vector<float> points = uniform_points<float>(20000, 3, 0, 1, 703);
    std::vector<double> weights;

    Skewed() {
        for (std::size_t i = 0; i < 20000; ++i) {
            weights.push_back(points[3 * i] < 0.05F ? 400 : 1);
        }
    }
    [[nodiscard]] std::span<const double> part(const RankFirsts& firsts, int rank) const {
        const auto i = static_cast<std::size_t>(rank);
        return std::span(weights).subspan(static_cast<std::size_t>(firsts[i]),
                                          static_cast<std::size_t>(firsts[i + 1] - firsts[i]));
    }
};

/// The greatest sum of weights that a rank gets over the mean, and the greatest number of points over the mean.
struct Imbalance {
    double weight = 0;
    double count = 0;
};
Imbalance imbalance_of(const Skewed& skewed, const RankFirsts& firsts, std::span<const double> given) {
    Imbalance greatest;
    const int size = static_cast<int>(firsts.size()) - 1;
    run_ranks(size, [&](Communicator& communicator) {
        detail::Ranks ranks(communicator);
        detail::Context context(cpu(1));
        const PointsView mine = part_of({skewed.points, 3}, firsts, ranks.rank());
        const detail::SharedPoints<float> shared = detail::share_frame<float>(ranks, context, mine, Box{});
        const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]);
        const ScalarsView of_rank =
            given.empty() ? given : given.subspan(first, static_cast<std::size_t>(mine.count()));
        const detail::PointWeights weights(ranks, of_rank, mine.count());
        const detail::CurveDivision<float> division(ranks, context, shared, weights, 0.01);
        const detail::MovedPoints<float> moved(
            ranks, context, [&](std::int64_t first_row) { return division.ranks_of(mine, first_row); }, mine, {},
            weights);
        double weight = 0;
        for (const std::int64_t index : moved.global_indices()) {
            weight += skewed.weights[static_cast<std::size_t>(index)];
        }
        const std::vector<double> weights_of_ranks = ranks.gather(weight);
        const double all = std::accumulate(weights_of_ranks.begin(), weights_of_ranks.end(), 0.0);
        const std::int64_t most = ranks.max(moved.view().count());
        if (ranks.rank() == 0) {
            greatest = {*std::ranges::max_element(weights_of_ranks) / all * size,
                        static_cast<double>(most) / static_cast<double>(std::ssize(skewed.weights)) * size};
        }
    });
    return greatest;
}

TEST_F(Rebalance, GivesRanksTheSameWeight) {
    const Skewed skewed;
    for (const int size : rank_counts) {
        for (const RankFirsts& firsts : {all_on(size - 1, 20000, size), unevenly(20000, size), evenly(20000, size)}) {
            SCOPED_TRACE(std::to_string(size) + " ranks");
            EXPECT_LT(imbalance_of(skewed, firsts, skewed.weights).weight, 1.2);
            EXPECT_LT(imbalance_of(skewed, firsts, std::vector<double>(20000, 0)).count, 1.2); // all alike
            if (size > 1) {
                EXPECT_GT(imbalance_of(skewed, firsts, {}).weight, 1.4);
            }
        }
    }
}

TEST_F(Rebalance, WeightsAreScaledAndNeverZero) {
    run_ranks(3, [&](Communicator& communicator) {
        detail::Ranks ranks(communicator);
        const std::vector<std::vector<double>> given{{0, 4e307}, {}, {2e307, 2e307}};
        const auto& mine = given[static_cast<std::size_t>(ranks.rank())];
        const detail::PointWeights weights(ranks, mine, std::ssize(mine));
        if (ranks.rank() == 0) {
            EXPECT_EQ(weights[0], 0.5 / 64); // of the mean
            EXPECT_EQ(weights[1], 1);
        } else if (ranks.rank() == 2) {
            EXPECT_EQ(weights[0], 0.5);
            EXPECT_EQ(weights[1], 0.5);
        }
    });
}

/// Over four ranks, the second of which has no points.
class WeightsOfCalls : public Rebalance {
protected:
    Skewed skewed;
    RankFirsts firsts{0, 4000, 4000, 15000, 20000};

    [[nodiscard]] PointsView part(int rank) const { return part_of({skewed.points, 3}, firsts, rank); }
};

TEST_F(WeightsOfCalls, WhatPointsCostIsTheTimeOfTheRanks) {
    const KnnResult rows = knn(PointsView(skewed.points, 3), 5, {.index_type = IndexType::int64});
    const FofResult groups = fof(PointsView(skewed.points, 3), LinkingLength::relative(0.3));
    const auto sum_of = [](detail::Ranks& ranks, double mine) {
        double sum = 0;
        for (const double of_rank : ranks.gather(mine)) {
            sum += of_rank;
        }
        return sum;
    };
    run_ranks(4, [&](Communicator& communicator) {
        detail::Ranks ranks(communicator);
        const PointsView mine = part(ranks.rank());
        const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]);
        const auto count = static_cast<std::size_t>(mine.count());
        std::vector<float> work;
        const auto expect_work = [&](const std::vector<float>& found, const StageReports& stages) {
            EXPECT_EQ(found.size(), count);
            EXPECT_TRUE(std::ranges::all_of(found, [](float seconds) { return seconds > 0; }));
            const double cost = sum_of(ranks, std::accumulate(found.begin(), found.end(), 0.0));
            const double seconds = sum_of(ranks, detail::seconds_of(stages));
            EXPECT_NEAR(cost, seconds, 1e-4 * seconds);
            work = found;
        };
        for (int step = 0; step < 3; ++step) { // weighted by what the steps before cost
            const KnnResult found =
                knn(mine, 5, {.execution = over(communicator, cpu(1), {.rebalance = true, .weights = work})});
            EXPECT_TRUE(std::ranges::equal(found.indices64(), rows.indices64().subspan(5 * first, 5 * count)));
            expect_work(found.distribution->work, found.stages);
            const FofResult labeled =
                fof(mine, LinkingLength::relative(0.3),
                    {.execution = over(communicator, cpu(1), {.rebalance = true, .weights = work})});
            EXPECT_TRUE(std::ranges::equal(labeled.labels64(), std::span(groups.labels()).subspan(first, count)));
            expect_work(labeled.distribution->work, labeled.stages);
            const RadiusCounts counts = radius_count(
                mine, 0.1, {.execution = over(communicator, cpu(1), {.rebalance = true, .weights = work})});
            expect_work(counts.distribution->work, counts.stages);
            const SearchSummary visited =
                knn_visit([](const NeighborBlock&) {}, mine, 5,
                          {.execution = over(communicator, cpu(1), {.rebalance = true, .weights = work})});
            expect_work(visited.distribution->work, visited.stages);
            const Execution rebalanced = over(communicator, cpu(1), {.rebalance = true, .weights = work});
            const NeighborSums sums = sum_neighbors(mine, Nearest{5}, {.execution = rebalanced});
            expect_work(sums.distribution->work, sums.stages);
            const PairCounts pairs = pair_counts(mine, std::vector<double>{0, 0.01}, {.execution = rebalanced});
            expect_work(pairs.distribution->work, pairs.stages);
        }
        EXPECT_TRUE(knn(mine, 5, {.execution = over(communicator, cpu(1))}).distribution->work.empty());
    });
}

// More rows than a rank finds in one turn, for a rank that passes nearly all of them.
TEST_F(Rebalance, VisitorsSeeEveryRowOnceInSeveralTurns) {
    constexpr std::int64_t count = 150'000;
    const std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 704);
    const KnnResult rows = knn(PointsView(points, 3), 2, {.index_type = IndexType::int64});
    const RankFirsts firsts{0, 10, count};
    run_ranks(2, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        std::vector<std::int64_t> found(static_cast<std::size_t>(2 * mine.count()), -7);
        std::int64_t visited = 0;
        const auto visit = [&](const NeighborBlock& block) {
            EXPECT_EQ(block.first, visited);
            visited += block.rows();
            for (std::int64_t row = 0; row < block.rows(); ++row) {
                std::ranges::copy(block.indices64().subspan(static_cast<std::size_t>(2 * row), 2),
                                  found.begin() + 2 * block.query_indices[static_cast<std::size_t>(row)]);
            }
        };
        knn_visit(visit, mine, 2, {.execution = over(ranks, cpu(1), {.rebalance = true})});
        EXPECT_EQ(visited, mine.count());
        const auto first = static_cast<std::size_t>(2 * firsts[static_cast<std::size_t>(ranks.rank())]);
        EXPECT_TRUE(std::ranges::equal(found, rows.indices64().subspan(first, found.size())));
    });
}

TEST_F(WeightsOfCalls, WrongWeightsOfOneRankAreAnErrorOfAll) {
    const auto refuses = [&](const std::vector<std::string>& words, const auto& weights_of) {
        run_ranks(4, [&](Communicator& ranks) {
            const std::vector<double> weights = weights_of(ranks.rank());
            const RankOptions options{.rebalance = true, .weights = weights};
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words, [&] {
                (void)knn(part(ranks.rank()), 3, {.execution = over(ranks, cpu(1), options)});
            }));
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words, [&] {
                (void)fof(part(ranks.rank()), LinkingLength::relative(0.2),
                          {.execution = over(ranks, cpu(1), options)});
            }));
            const RankOptions off{.weights = weights}; // has no use for them
            EXPECT_EQ(knn(part(ranks.rank()), 3, {.execution = over(ranks, cpu(1), off)}).rows(),
                      part(ranks.rank()).count());
        });
    };
    const auto with = [&](int bad, std::size_t row, double weight) {
        return [this, bad, row, weight](int rank) {
            const std::span<const double> good = skewed.part(firsts, rank);
            std::vector<double> weights(good.begin(), good.end());
            if (rank == bad) {
                weights[row] = weight;
            }
            return weights;
        };
    };
    refuses({"rank 2: weights: point 17 has NaN"}, with(2, 17, std::numeric_limits<double>::quiet_NaN()));
    refuses({"rank 0: weights: point 3999 has -0.5"}, with(0, 3999, -0.5));
    refuses({"rank 3: weights: point 0 has inf"}, with(3, 0, std::numeric_limits<double>::infinity()));
    refuses({"rank 2: weights: there are 0 for 11000 points"},
            [&](int rank) { return rank == 2 ? std::vector<double>() : with(-1, 0, 0)(rank); });
    refuses({"rank 1: weights: there are 2 for 0 points"},
            [&](int rank) { return rank == 1 ? std::vector<double>(2, 1.0) : with(-1, 0, 0)(rank); });
}

TEST_F(Rebalance, RefusesMoreRowsThanARankCanNumber) {
    constexpr std::int64_t most = 2147483647;
    detail::require_rows(most);
    EXPECT_TRUE(is_refused(ErrorKind::too_large, {"2147483648 points or queries", "more than 2147483647"},
                           [] { detail::require_rows(most + 1); }));
}

} // namespace
} // namespace kith::test
