// Pair counts over ranks against the oracle: every type, built dimension, point set, box and kind of bins, of one set
// and of two, with and without weights and separations; and against the serial call for more points than the oracle can visit.
#include "distributed/distributions.hpp"
#include "pairs/conformance.hpp"
#include "support/cases.hpp"
#include "support/linking_lengths.hpp"

#include <kith/distributed.hpp>
#include <kith/pair_counts.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

std::optional<std::span<const double>> weights_of(const std::optional<std::span<const double>>& all,
                                                  const RankFirsts& firsts, int rank) {
    const auto i = static_cast<std::size_t>(rank);
    if (!all) {
        return std::nullopt;
    }
    return all->subspan(static_cast<std::size_t>(firsts[i]), static_cast<std::size_t>(firsts[i + 1] - firsts[i]));
}

/// Points, others or null, and where those of each rank start.
struct Sets {
    PointsView points;
    const PointsView* others;
    RankFirsts firsts;
    RankFirsts others_firsts = {};
    bool have_ids = false; ///< descending ones
    bool rebalance = false;
};

/// Calls check(counts) on each rank with what it has counted.
template <class Check>
void count_over_ranks(const Sets& sets, const std::vector<double>& edges, const PairCountOptions& options,
                      const Check& check) {
    const int ranks = static_cast<int>(sets.firsts.size()) - 1;
    std::mutex checking;
    run_ranks(ranks, [&](Communicator& communicator) {
        const int rank = communicator.rank();
        const PointsView mine = part_of(sets.points, sets.firsts, rank);
        std::vector<std::int64_t> ids(sets.have_ids ? static_cast<std::size_t>(mine.count()) : 0);
        std::iota(ids.rbegin(), ids.rend(), 7 * sets.firsts[static_cast<std::size_t>(rank)]);
        PairCountOptions here = options;
        here.weights = weights_of(options.weights, sets.firsts, rank);
        here.other_weights = weights_of(options.other_weights, sets.others_firsts, rank);
        const std::vector<float> weights = weights_for(mine.count());
        here.execution =
            over(communicator, cpu(1 + rank % 2), {.ids = ids, .rebalance = sets.rebalance, .weights = weights});
        const PairCounts found = sets.others != nullptr
                                     ? pair_counts(mine, part_of(*sets.others, sets.others_firsts, rank), edges, here)
                                     : pair_counts(mine, edges, here);
        const std::lock_guard lock(checking);
        EXPECT_TRUE(found.distribution && found.distribution->ranks == ranks &&
                    found.distribution->total == sets.points.count() &&
                    std::ssize(found.distribution->work) == (sets.rebalance && ranks > 1 ? mine.count() : 0));
        check(found);
    });
}

class PairsOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, PairsOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(PairsOverRanks, AreThoseOfTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), 300);
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(),
                                    static_cast<std::uint64_t>(set.dimension + 17)));
        if (draw.integer(3) > 0) {
            set.coordinates = along_the_first_axis(set.coordinates, set.dimension);
        }
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            for (const PairBinning binning : {PairBinning::separation, PairBinning::rp_pi, PairBinning::s_mu}) {
                oracle::PairBins bins{binning, edges_among(lengths, draw)};
                if (binning != PairBinning::separation) {
                    bins.second_edges = binning == PairBinning::rp_pi ? edges_among(lengths, draw)
                                                                      : edges_among({0, 0.1, 0.5, 0.99, 1}, draw);
                    bins.line_of_sight = static_cast<int>(draw.integer(set.dimension));
                }
                const bool is_separate = draw.integer(3) == 0;
                const auto is_refused = [&](double edge) { return oracle::is_refused(copy, edge, is_separate); };
                if (std::ranges::any_of(bins.edges, is_refused) ||
                    (binning == PairBinning::rp_pi && std::ranges::any_of(bins.second_edges, is_refused))) {
                    continue;
                }
                const std::vector<T> others = queries_for(set, named.box, 60 + draw.integer(100));
                const PointsView others_view(others, set.dimension);
                oracle::Weights weights;
                if (draw.integer(2) == 0) {
                    weights.first = some_weights(set.count(), draw);
                }
                if (is_separate && draw.integer(2) == 0) {
                    weights.second = some_weights(others_view.count(), draw);
                }
                const oracle::PairTable expected =
                    is_separate ? oracle::pair_counts(copy, oracle::normalized_queries<T>(copy, others), bins, weights)
                                : oracle::pair_counts(copy, bins, weights);
                const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
                const Sets sets{set.view(),
                                is_separate ? &others_view : nullptr,
                                drawn_distribution(set.count(), ranks, draw),
                                drawn_distribution(others_view.count(), ranks, draw),
                                draw.integer(3) == 0,
                                draw.integer(3) == 0};
                PairCountOptions options = options_for(bins, weights, named.box);
                options.separations = wants_separations<T>(bins, draw);
                count_over_ranks(sets, bins.edges, options, [&](const PairCounts& found) {
                    EXPECT_TRUE(same_pairs(found, expected, options.separations))
                        << named.name << ", " << pair_binning_names[static_cast<std::size_t>(binning)]
                        << (is_separate ? ", two sets" : "") << ", " << ranks << " ranks, edges "
                        << testing::PrintToString(bins.edges) << " and " << testing::PrintToString(bins.second_edges);
                });
            }
        }
    });
}

class PairsOverRanksIn3D : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = along_the_first_axis(uniform_points<float>(4000, 3, 0, 1, 421), 3);
    const PointsView view_{points_, 3};
};

TEST_F(PairsOverRanksIn3D, AreThoseOfOneProcessOnEveryNumberOfRanks) {
    Random draw(422);
    const std::vector<double> weights = some_weights(4000, draw);
    const std::vector<double> other_weights = some_weights(1500, draw);
    const std::vector<float> others = uniform_points<float>(1500, 3, -0.5, 1.5, 423);
    const PointsView others_view(others, 3);
    const std::vector<double> near{0, 0.01, 0.03, 0.1};
    const std::vector<double> all{0.2, 0.5, std::numeric_limits<double>::infinity()};
    const std::vector<double> pi{0, 0.05, 0.2};
    for (const std::vector<double>& edges : {near, all}) {
        PairCountOptions options{.box = Box::periodic(1), .weights = weights, .execution = cpu(1)};
        options.separations = edges.back() < 1;
        PairCountOptions of_two = options;
        of_two.other_weights = other_weights;
        of_two.binning = PairBinning::rp_pi;
        of_two.second_edges = pi;
        const PairCounts one_set = pair_counts(view_, edges, options);
        const PairCounts two_sets = pair_counts(view_, others_view, edges, of_two);
        const auto check = [](const PairCounts& expected) {
            return [&expected](const PairCounts& found) {
                EXPECT_EQ(found.counts, expected.counts);
                EXPECT_EQ(found.weighted, expected.weighted);
                EXPECT_EQ(found.separations, expected.separations);
                EXPECT_EQ(found.vanished_weights, expected.vanished_weights);
                EXPECT_EQ(found.wrapped_points, expected.wrapped_points);
                EXPECT_EQ(found.box, expected.box);
                EXPECT_EQ(found.edges, expected.edges);
                EXPECT_EQ(found.line_of_sight, expected.line_of_sight);
            };
        };
        for (const int ranks : rank_counts) {
            SCOPED_TRACE(ranks);
            for (const RankFirsts& firsts : {evenly(4000, ranks), unevenly(4000, ranks)}) {
                count_over_ranks({view_, nullptr, firsts}, edges, options, check(one_set));
                count_over_ranks({view_, &others_view, firsts, evenly(1500, ranks)}, edges, of_two, check(two_sets));
            }
            const RankFirsts on_one = all_on(ranks / 2, 4000, ranks);
            count_over_ranks({view_, nullptr, on_one, {}, false, true}, edges, options, check(one_set));
            count_over_ranks({view_, &others_view, on_one, all_on(0, 1500, ranks), false, true}, edges, of_two,
                             check(two_sets));
        }
    }
}

TEST_F(PairsOverRanksIn3D, OnlyPointsNearOtherRanksTravel) {
    const std::vector<double> edges{0, 0.01};
    run_ranks(4, [&](Communicator& ranks) {
        const PairCounts found =
            pair_counts(part_of(view_, evenly(4000, 4), ranks.rank()), edges, {.execution = over(ranks, cpu(1))});
        EXPECT_LT(found.distribution->traffic.bytes_sent, 12000); // the points of a rank are as many bytes
        std::int64_t builds = 0;
        for (const StageReport& stage : found.stages) {
            builds += stage.name == "tree" ? 1 : 0;
        }
        EXPECT_EQ(builds, 1); // stages of all turns are one
    });
}

TEST_F(PairsOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    const RankFirsts firsts = evenly(4000, 4);
    const std::vector<double> edges{0, 0.1};
    const std::vector<double> others{0, 0.2};
    const std::vector<double> ones(1000, 1);
    std::vector<double> bad = ones;
    bad[7] = -1;
    const auto refuses = [&](const PointsView& points, const std::vector<std::string>& words, const auto& edges_of,
                             const auto& options_of) {
        run_ranks(4, [&](Communicator& ranks) {
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words, [&] {
                PairCountOptions options = options_of(ranks.rank());
                options.execution = over(ranks, cpu(1));
                (void)pair_counts(part_of(points, firsts, ranks.rank()), edges_of(ranks.rank()), options);
            }));
        });
    };
    const auto same = [&](int) { return edges; };
    const auto plain = [](int) { return PairCountOptions(); };
    refuses(
        view_, {"edges: those on rank 2 are not those on rank 0"}, [&](int rank) { return rank == 2 ? others : edges; },
        plain);
    refuses(view_, {"rank 1", "weight of point 7"}, same,
            [&](int rank) { return PairCountOptions{.weights = rank == 1 ? bad : ones}; });
    refuses(view_, {"weights: not given on rank 3, given on rank 0"}, same,
            [&](int rank) { return rank == 3 ? PairCountOptions() : PairCountOptions{.weights = ones}; });
    for (const bool rebalance : {false, true}) { // named by its row where it was passed
        run_ranks(2, [&](Communicator& ranks) {
            std::vector<float> bad_others(30, 0.5F);
            bad_others[3 * 7 + 2] = ranks.rank() == 1 ? std::numeric_limits<float>::quiet_NaN() : 0.5F;
            EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"rank 1: other: point 7 has NaN as coordinate 2"}, [&] {
                (void)pair_counts(part_of(view_, evenly(4000, 2), ranks.rank()), PointsView(bad_others, 3), edges,
                                  {.execution = over(ranks, cpu(1), {.rebalance = rebalance})});
            }));
        });
    }
    std::vector<float> far = points_;
    far[3 * 2500 + 1] = 1e34F; // on rank 2, beside which the edge vanishes
    refuses({far, 3}, {"edges[1] is 0.1", "coordinate 1 of point 2500"}, same, plain);
}

} // namespace
} // namespace kith::test
