// Points that are moved between ranks: each comes back with its own answer, and ranks get about as many. What searches
// make of moved points is tested with the searches.
#include "distributed/distributions.hpp"
#include "distributed/rebalance.hpp"
#include "support/cases.hpp"

#include <kith/execution.hpp>

#include <gtest/gtest.h>

#include <cstdint>
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
        for (const Distribution& firsts : {all_on(1, 6000, 4), unevenly(6000, 4), evenly(6000, 4)}) {
            run_ranks(4, [&](Communicator& communicator) {
                detail::Ranks ranks(communicator);
                detail::Context context(cpu(1));
                const PointsView mine = part_of({*points, 3}, firsts, ranks.rank());
                const detail::SharedPoints<float> shared = detail::share_frame<float>(ranks, context, mine, Box{});
                const detail::MovedPoints<float> moved(ranks, context,
                                                       detail::CurveDivision<float>(ranks, context, shared), mine, {});
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
        const detail::MovedPoints<float> moved(ranks, context, detail::CurveDivision<float>(ranks, context, shared),
                                               mine, {});
        const std::int64_t bytes = knn(communicator, moved.view(), 4, {.execution = cpu(1)}).traffic.bytes_received;
        const std::int64_t sum = ranks.sum(bytes);
        if (ranks.rank() == 0) {
            fetched = sum;
        }
    });
    EXPECT_LT(fetched, 20000 * 16); // scattered, each rank fetches most points of all others: three times as much
}

TEST_F(Rebalance, RefusesMoreRowsThanARankCanNumber) {
    constexpr std::int64_t most = 2147483647;
    detail::require_rows(most);
    EXPECT_TRUE(is_refused(ErrorKind::too_large, {"2147483648 points or queries", "more than 2147483647"},
                           [] { detail::require_rows(most + 1); }));
}

} // namespace
} // namespace kith::test
