// Groups over ranks against the serial groups, which other suites hold against the oracle: every type, built dimension,
// point set and box, and filaments that cross the ranks in every order.
#include "distributed/distributions.hpp"
#include "support/cases.hpp"
#include "support/velocities.hpp"

#include <kith/distributed.hpp>

#include <gtest/gtest.h>

#include <tbb/task_scheduler_observer.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using test::part_of;

/// The options of a rank: with its own velocities and masses.
FofOptions part_of(FofOptions options, const RankFirsts& firsts, int rank) {
    if (options.phase_space) {
        options.phase_space->velocities = test::part_of(options.phase_space->velocities, firsts, rank);
        if (options.phase_space->masses) {
            const auto first = firsts[static_cast<std::size_t>(rank)];
            const auto count = static_cast<std::size_t>(firsts[static_cast<std::size_t>(rank) + 1] - first);
            options.phase_space->masses =
                ScalarsView(std::span(static_cast<const float*>(options.phase_space->masses->data()) + first, count));
        }
    }
    return options;
}

/// Finds groups over ranks and holds every rank's labels, and the numbers of groups, against those of one process.
testing::AssertionResult same_as_serial(const PointsView& points, const LinkingLength& length, FofOptions options,
                                        const RankFirsts& firsts, bool rebalance = false) {
    const FofResult serial = fof(points, length, options);
    options.execution = cpu(1);
    std::mutex failing;
    testing::AssertionResult result = testing::AssertionSuccess();
    run_ranks(static_cast<int>(firsts.size()) - 1, [&](Communicator& ranks) {
        const PointsView mine = part_of(points, firsts, ranks.rank());
        const std::vector<float> weights = weights_for(mine.count());
        const FofResult found = fof(
            mine, length,
            over_ranks(ranks, part_of(options, firsts, ranks.rank()), {.rebalance = rebalance, .weights = weights}));
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const auto of_rank =
            std::span(serial.labels()).subspan(static_cast<std::size_t>(firsts[rank]), found.labels64().size());
        const auto differs = std::ranges::mismatch(found.labels64(), of_rank);
        const std::lock_guard lock(failing);
        if (static_cast<std::int64_t>(found.labels64().size()) != firsts[rank + 1] - firsts[rank]) {
            result = testing::AssertionFailure() << "rank " << rank << " has " << found.labels64().size() << " labels";
        } else if (differs.in1 != found.labels64().end()) {
            result = testing::AssertionFailure()
                     << "rank " << rank << " of " << ranks.size() << ": row " << differs.in1 - found.labels64().begin()
                     << " has label " << *differs.in1 << ", not " << *differs.in2;
        } else if (found.groups != serial.groups || found.sizes != serial.sizes ||
                   found.groups_of_at_least(3) != serial.groups_of_at_least(3)) {
            result = testing::AssertionFailure()
                     << "rank " << rank << " of " << ranks.size() << " counts " << found.groups << " groups, not "
                     << serial.groups << ", or other sizes";
        } else if (found.linking_length != serial.linking_length || found.volume != serial.volume ||
                   found.volume_kind != serial.volume_kind || found.box != serial.box ||
                   found.velocity_length != serial.velocity_length || found.velocity_scale != serial.velocity_scale) {
            result = testing::AssertionFailure()
                     << "rank " << rank << " links at " << found.linking_length << " and " << found.velocity_length
                     << ", not " << serial.linking_length << " and " << serial.velocity_length << ", or in another box";
        }
    });
    return result;
}

/// None, of few friends, of many, of everything; one that occurs exactly.
template <class T>
std::vector<double> lengths_for(const PointSet<T>& set, const Box& box) {
    const double separation =
        set.extent() / std::pow(static_cast<double>(std::max<std::int64_t>(set.count(), 1)), 1.0 / set.dimension);
    std::vector<double> lengths{0, separation * 0.2, separation * 0.5, separation, separation * 4, set.extent() * 2};
    if (set.count() > 1) {
        lengths.push_back(static_cast<double>(knn(set.view(), 2, {.box = box}).template distances<T>()[1]));
    }
    return lengths;
}

class FofOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, FofOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(FofOverRanks, HasTheLabelsOfOneProcess) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 37 + static_cast<std::uint64_t>(set.dimension));
        for (const NamedBox& named : set.boxes) {
            const std::vector<double> lengths = lengths_for(set, named.box);
            for (int i = 0; i < 2; ++i) {
                const double length = lengths[draw.integer(static_cast<std::int64_t>(lengths.size()))];
                if (oracle::is_refused(oracle::working_copy<T>(set.coordinates, set.dimension, named.box), length)) {
                    continue;
                }
                const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
                EXPECT_TRUE(same_as_serial({draw.integer(3) == 0 ? set.coordinates : slabs, set.dimension},
                                           LinkingLength::absolute(length), {.box = named.box},
                                           drawn_distribution(set.count(), ranks, draw), draw.integer(3) == 0))
                    << named.name << ", " << length;
            }
        }
    });
}

class PhaseSpaceOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, PhaseSpaceOverRanks,
                         testing::ValuesIn(cases_of({"two", "clustered", "lattice", "coincident", "slightly_outside"})),
                         case_name);

TEST_P(PhaseSpaceOverRanks, HasTheLabelsOfOneProcess) {
    const int dimension = GetParam().dimension;
    if (dimension > 4 || !is_built(2 * dimension)) {
        GTEST_SKIP() << "dimension " << 2 * dimension << " is not built";
    }
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 43 + sizeof(T));
        for (const NamedBox& named : set.boxes) {
            for (int i = 0; i < 3; ++i) {
                std::vector<double> velocities = velocities_for<double>(set.count(), dimension, draw);
                velocities.front() += 0.3; // not all alike, also among those with a mass
                std::vector<float> masses;
                for (std::int64_t row = 0; row < set.count(); ++row) {
                    masses.push_back(row % 7 == 3 ? 0.0F : static_cast<float>(draw.uniform()));
                }
                const double psi = draw.integer(4) == 0 ? std::numeric_limits<double>::infinity() : 0.7;
                FofOptions options{.box = named.box};
                options.phase_space = PhaseSpace{PointsView(velocities, dimension),
                                                 i == 0 ? VelocityLength::absolute(psi) : VelocityLength::sigmas(0.8)};
                if (i == 2) {
                    options.phase_space->masses = ScalarsView(masses);
                }
                const double length = set.extent() * (draw.integer(2) == 0 ? 0.1 : 0.4) + 1e-3;
                const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
                EXPECT_TRUE(same_as_serial({slabs, dimension}, LinkingLength::absolute(length), options,
                                           drawn_distribution(set.count(), ranks, draw), draw.integer(3) == 0))
                    << named.name << ", " << length << ", " << i;
            }
        }
    });
}

class FofOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(FofOverRanksIn3D, OfEveryNumberOfRanks) {
    for (const char* name : {"clustered", "lattice", "coincident", "few_distinct"}) {
        const PointSet<float> set = point_set<float>(name, 3);
        const std::vector<float> slabs = along_the_first_axis(set.coordinates, 3);
        for (const std::vector<float>* points : {&set.coordinates, &slabs}) {
            for (const int ranks : rank_counts) {
                for (const RankFirsts& firsts : {evenly(set.count(), ranks), all_on(ranks / 2, set.count(), ranks),
                                                 unevenly(set.count(), ranks)}) {
                    EXPECT_TRUE(same_as_serial({*points, 3}, LinkingLength::relative(0.4),
                                               {.box = Box::periodic(2 * set.extent() + 1)}, firsts))
                        << name;
                }
            }
        }
    }
}

/// Filaments far from each other, of three points for each owner: the i-th segment of one belongs to rank owners[i].
void expect_filaments(const std::vector<std::vector<int>>& filaments, int ranks) {
    std::vector<float> points;
    RankFirsts firsts{0};
    for (int rank = 0; rank < ranks; ++rank) {
        for (std::size_t line = 0; line < filaments.size(); ++line) {
            for (std::size_t i = 0; i < filaments[line].size(); ++i) {
                for (std::size_t j = 0; filaments[line][i] == rank && j < 3; ++j) {
                    points.insert(points.end(), {static_cast<float>(3 * i + j), 2.0F * static_cast<float>(line), 0});
                }
            }
        }
        firsts.push_back(static_cast<std::int64_t>(points.size() / 3));
    }
    EXPECT_EQ(fof(PointsView(points, 3), LinkingLength::absolute(1)).groups,
              static_cast<std::int64_t>(filaments.size()));
    EXPECT_TRUE(same_as_serial({points, 3}, LinkingLength::absolute(1), {}, firsts));
}

TEST_F(FofOverRanksIn3D, FilamentsCrossRanksInEveryOrder) {
    for (const int ranks : {2, 3, 4, 5, 6}) {
        std::vector<int> owners(static_cast<std::size_t>(ranks));
        std::iota(owners.begin(), owners.end(), 0);
        std::vector<std::vector<int>> filaments;
        do {
            filaments.push_back(owners);
        } while (std::ranges::next_permutation(owners).found);
        expect_filaments(filaments, ranks);
    }
}

TEST_F(FofOverRanksIn3D, FilamentsCrossEightRanksInSomeOrders) {
    Random draw(91);
    std::vector<std::vector<int>> filaments(static_cast<std::size_t>(sized(5040)), std::vector<int>(8));
    for (std::vector<int>& owners : filaments) {
        std::iota(owners.begin(), owners.end(), 0);
        for (std::size_t i = 7; i > 0; --i) {
            std::swap(owners[i], owners[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(i) + 1))]);
        }
    }
    expect_filaments(filaments, 8);
}

TEST_F(FofOverRanksIn3D, AFilamentReturnsToRanksManyTimes) {
    Random draw(92);
    for (const int ranks : {2, 3, 8}) {
        std::vector<int> owners(300);
        std::ranges::generate(owners, [&] { return static_cast<int>(draw.integer(ranks)); });
        expect_filaments({owners}, ranks);
    }
}

TEST_F(FofOverRanksIn3D, ALongWayThroughRanksTakesFewMessages) {
    // Neighbors on a line are on different ranks: links that were followed step by step would take as many rounds as
    // there are points.
    constexpr std::int64_t count = 4000;
    constexpr int ranks = 4;
    std::vector<float> points;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        for (std::int64_t i = 0; i < count / ranks; ++i) { // from the ends of the line to its middle
            const std::int64_t at = i * ranks + rank;
            points.insert(points.end(), {static_cast<float>(at % 2 == 0 ? at / 2 : count - 1 - at / 2), 0, 0});
        }
    }
    run_ranks(ranks, [&](Communicator& communicator) {
        const FofResult found = fof(part_of({points, 3}, evenly(count, ranks), communicator.rank()),
                                    LinkingLength::absolute(1), {.execution = over(communicator, cpu(1))});
        EXPECT_EQ(found.groups, 1);
        EXPECT_LT(found.distribution->traffic.messages_sent, 300);
    });
}

TEST_F(FofOverRanksIn3D, RelativeLengthsAreThoseOfAllPoints) {
    const std::vector<double> points = uniform_points<double>(600, 3, -3, 5, 92);
    for (const Box& box : {Box{}, Box::periodic(8), Box::periodic({8.0, 0.0, 9.0})}) {
        EXPECT_TRUE(same_as_serial({points, 3}, LinkingLength::relative(0.6), {.box = box}, unevenly(600, 5)));
    }
}

TEST_F(FofOverRanksIn3D, OfCoincidentPointsFewTravel) {
    constexpr std::int64_t count = 20000;
    const std::vector<float> points(3 * count, 0.25F);
    run_ranks(4, [&](Communicator& ranks) {
        const FofResult found = fof(part_of({points, 3}, evenly(count, 4), ranks.rank()), LinkingLength::absolute(0),
                                    {.execution = over(ranks, cpu(1))});
        EXPECT_EQ(found.groups, 1);
        EXPECT_EQ(found.sizes.front(), count);
        EXPECT_LT(found.distribution->traffic.bytes_received, 200000);
    });
}

TEST_F(FofOverRanksIn3D, ThreadsOfARankNumberGroupsTogether) {
    constexpr std::int64_t count = 300000; // several blocks of rows on each rank
    const std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 96);
    for (const double b : {0.05, 0.6}) {
        const FofResult serial = fof(PointsView(points, 3), LinkingLength::relative(b));
        const RankFirsts firsts = evenly(count, 2);
        run_ranks(2, [&](Communicator& ranks) {
            const FofResult found = fof(part_of({points, 3}, firsts, ranks.rank()), LinkingLength::relative(b),
                                        {.execution = over(ranks, cpu(3))});
            EXPECT_EQ(found.groups, serial.groups);
            EXPECT_TRUE(std::ranges::equal(
                found.labels64(), std::span(serial.labels())
                                      .subspan(static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]),
                                               found.labels64().size())));
        });
    }
}

/// Counts the threads that come to work for this one outside of the arenas of calls.
class Helpers : public tbb::task_scheduler_observer {
public:
    Helpers() { observe(true); }
    ~Helpers() override { observe(false); }
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    void on_scheduler_entry(bool is_worker) override { count_ += is_worker ? 1 : 0; }
    [[nodiscard]] int count() const { return count_; }

private:
    std::atomic<int> count_ = 0;
};

TEST_F(FofOverRanksIn3D, ARankUsesNoMoreThreadsThanItIsGiven) {
    constexpr std::int64_t count = 400000;
    const std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 95);
    const std::vector<float> masses(count, 1);
    FofOptions options{.execution = cpu(1)};
    if (is_built(6)) {
        options.phase_space = PhaseSpace{PointsView(points, 3), VelocityLength::sigmas(0.001), ScalarsView(masses)};
    }
    run_ranks(2, [&](Communicator& ranks) {
        const RankFirsts firsts = evenly(count, 2);
        for (const bool rebalance : {false, true}) {
            const Helpers helpers;
            (void)fof(part_of({points, 3}, firsts, ranks.rank()), LinkingLength::absolute(0.001),
                      over_ranks(ranks, part_of(options, firsts, ranks.rank()), {.rebalance = rebalance}));
            EXPECT_EQ(helpers.count(), 0) << (rebalance ? "rebalanced" : "as they are");
        }
    });
}

TEST_F(FofOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 93);
    const RankFirsts firsts = evenly(100, 4);
    run_ranks(4, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        const double b = ranks.rank() == 1 ? 0.3 : 0.2;
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"rank 1", "0.3", "0.2"},
                               [&] { (void)fof(mine, LinkingLength::relative(b), {.execution = over(ranks)}); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"linking length", "-1"},
                               [&] { (void)fof(mine, LinkingLength::absolute(-1), {.execution = over(ranks)}); }));
    });
    points[3 * 60 + 2] = -1e34F; // on rank 2, beside which the length vanishes
    run_ranks(4, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"coordinate 2 of point 60"},
                               [&] { (void)fof(mine, LinkingLength::absolute(1e-3), {.execution = over(ranks)}); }));
    });
    points[3 * 60 + 2] = std::numeric_limits<float>::infinity();
    run_ranks(4, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"rank 2", "point 10 has +infinity as coordinate 2"},
                               [&] { (void)fof(mine, LinkingLength::absolute(1e-3), {.execution = over(ranks)}); }));
    });
}

TEST_F(FofOverRanksIn3D, ErrorsInPhaseSpaceAreThoseOfAllRanks) {
    if (!is_built(6)) {
        GTEST_SKIP() << "dimension 6 is not built";
    }
    const std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 94);
    const RankFirsts firsts = evenly(100, 4);
    const auto refuses = [&](ErrorKind kind, const std::vector<std::string>& words,
                             const std::vector<float>& velocities, const VelocityLength& psi,
                             const std::vector<float>& masses, double length = 0.1) {
        run_ranks(4, [&](Communicator& ranks) {
            FofOptions options;
            options.phase_space = PhaseSpace{PointsView(velocities, 3), psi, ScalarsView(masses)};
            options = part_of(options, firsts, ranks.rank());
            EXPECT_TRUE(is_refused(kind, words, [&] {
                (void)fof(part_of({points, 3}, firsts, ranks.rank()), LinkingLength::absolute(length),
                          over_ranks(ranks, options));
            }));
        });
    };
    std::vector<float> velocities(300, 1);
    std::vector<float> masses(100, 1);
    refuses(ErrorKind::invalid_argument, {"all velocities are alike"}, velocities, VelocityLength::sigmas(1), masses);
    refuses(ErrorKind::invalid_argument, {"the linking length is 0"}, velocities, VelocityLength::absolute(1), masses,
            0);
    masses[60] = -2;
    refuses(ErrorKind::invalid_argument, {"rank 2", "masses: row 10 is -2"}, velocities, VelocityLength::sigmas(1),
            masses);
    velocities[3 * 60 + 1] = 1e30F;
    refuses(ErrorKind::invalid_points, {"component 1 is from 1 to 1.00000001", "float64"}, velocities,
            VelocityLength::absolute(1e-10), masses);
    velocities[3 * 60 + 1] = std::numeric_limits<float>::quiet_NaN();
    refuses(ErrorKind::invalid_points, {"rank 2", "velocit", "10"}, velocities, VelocityLength::absolute(1), masses);
}

} // namespace
} // namespace kith::test
