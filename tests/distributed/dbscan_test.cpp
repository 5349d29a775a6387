// Clusters and noise over ranks against the oracle: every type, built dimension, point set and box, with and without
// ids; core points that no rank knows alone, and border points between clusters of any two ranks.
#include "distributed/distributions.hpp"
#include "oracle/dbscan.hpp"
#include "support/cases.hpp"
#include "support/linking_lengths.hpp"

#include <kith/dbscan.hpp>
#include <kith/distributed.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

struct Search {
    double eps;
    std::int64_t min_samples;
    DbscanOptions options;
};

/// The order in which ranks get points: as they are, or shuffled, with ids that restore the order.
struct Order {
    std::vector<std::int64_t> rows;
    bool has_ids = false;

    explicit Order(std::int64_t count) : rows(static_cast<std::size_t>(count)) {
        std::iota(rows.begin(), rows.end(), 0);
    }
    Order(std::int64_t count, Random& draw) : Order(count) {
        has_ids = true;
        for (std::int64_t i = count - 1; i > 0; --i) {
            std::swap(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(draw.integer(i + 1))]);
        }
    }
};

/// Finds clusters over ranks and holds what every rank has against the oracle.
template <class T>
testing::AssertionResult same_as_oracle(const std::vector<T>& points, int dimension, const Search& search,
                                        const RankFirsts& firsts, const Order& order, const RankOptions& of_ranks) {
    const auto copy = oracle::working_copy<T>(points, dimension, search.options.box);
    const oracle::Clusters expected = oracle::dbscan(copy, search.eps, search.min_samples, search.options.star);
    const Tree tree(PointsView(points, dimension), {.box = search.options.box, .execution = cpu(1)});
    std::vector<T> given;
    for (const std::int64_t row : order.rows) {
        given.insert(given.end(), points.begin() + row * dimension, points.begin() + (row + 1) * dimension);
    }
    std::mutex failing;
    testing::AssertionResult result = testing::AssertionSuccess();
    run_ranks(static_cast<int>(firsts.size()) - 1, [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const PointsView mine = part_of(PointsView(given, dimension), firsts, ranks.rank());
        const auto rows = std::span(order.rows)
                              .subspan(static_cast<std::size_t>(firsts[rank]), static_cast<std::size_t>(mine.count()));
        std::vector<std::int64_t> ids;
        for (std::size_t i = 0; order.has_ids && i < rows.size(); ++i) {
            ids.push_back((std::int64_t{1} << 33) + 3 * rows[i]);
        }
        RankOptions numbered = of_ranks;
        numbered.ids = ids;
        DbscanOptions options = search.options;
        options.execution = cpu(1);
        const DbscanResult found = dbscan(mine, search.eps, search.min_samples, over_ranks(ranks, options, numbered));
        const std::lock_guard lock(failing);
        const auto fail = [&] {
            return testing::AssertionFailure() << "rank " << rank << " of " << ranks.size() << ", eps " << search.eps
                                               << ", min_samples " << search.min_samples << ": ";
        };
        if (found.label_array.type() != IndexType::int64 || found.labels64().size() != rows.size() ||
            found.is_core.size() != rows.size()) {
            result = fail() << found.label_array.size() << " labels and " << found.is_core.size() << " flags";
            return;
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto at = static_cast<std::size_t>(rows[i]);
            if (found.labels64()[i] != expected.labels[at] || found.is_core[i] != expected.is_core[at]) {
                result = fail() << "row " << i << " has label " << found.labels64()[i] << " and flag "
                                << int{found.is_core[i]} << ", not " << expected.labels[at] << " and "
                                << int{expected.is_core[at]};
                return;
            }
        }
        if (found.clusters != std::ssize(expected.sizes) || !std::ranges::equal(found.sizes, expected.sizes) ||
            found.core_points != std::ranges::count(expected.is_core, 1) ||
            found.noise_points != std::ranges::count(expected.labels, -1)) {
            result = fail() << found.clusters << " clusters of sizes " << testing::PrintToString(found.sizes) << ", "
                            << found.core_points << " core points, " << found.noise_points << " points of noise";
        } else if (found.eps != static_cast<double>(static_cast<T>(search.eps)) || found.box != tree.box() ||
                   found.wrapped_points != tree.wrapped_points()) {
            result = fail() << "eps is " << found.eps << ", or the box is another one";
        } else if (found.distribution->ranks != ranks.size() || found.distribution->first != firsts[rank] ||
                   found.distribution->total != firsts.back()) {
            result = fail() << "another part of the answer";
        }
    });
    return result;
}

class DbscanOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, DbscanOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(DbscanOverRanks, HasTheClustersOfTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 47 + static_cast<std::uint64_t>(set.dimension));
        const auto one_of = [&](const auto& values) {
            return values[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(std::size(values))))];
        };
        for (const NamedBox& named : set.boxes) {
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            for (int i = 0; i < 2; ++i) {
                Search search{one_of(lengths), 0, {.box = named.box, .star = draw.integer(4) == 0}};
                search.min_samples =
                    one_of(std::vector<std::int64_t>{1, 2, 3, 4, 5, 9, 40, set.count() / 2 + 1, set.count() + 1});
                const auto copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
                if (oracle::is_refused(copy, search.eps)) {
                    continue;
                }
                const std::vector<T>& points = draw.integer(3) == 0 ? set.coordinates : slabs;
                const RankFirsts firsts = drawn_distribution(set.count(), one_of(rank_counts), draw);
                const Order order = draw.integer(3) == 0 ? Order(set.count(), draw) : Order(set.count());
                EXPECT_TRUE(
                    same_as_oracle(points, set.dimension, search, firsts, order, {.rebalance = draw.integer(3) == 0}))
                    << named.name << (search.options.star ? ", DBSCAN*" : "") << (order.has_ids ? ", by ids" : "");
            }
        }
    });
}

class DbscanOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(DbscanOverRanksIn3D, OfEveryNumberOfRanks) {
    Random draw(301);
    for (const char* name : {"clustered", "lattice", "coincident", "few_distinct"}) {
        const PointSet<float> set = point_set<float>(name, 3);
        const std::vector<float> slabs = along_the_first_axis(set.coordinates, 3);
        const std::vector<double> lengths = interesting_lengths(set, Box{});
        for (const std::vector<float>* points : {&set.coordinates, &slabs}) {
            for (const int ranks : rank_counts) {
                const Search search{lengths[3 + static_cast<std::size_t>(draw.integer(3))],
                                    2 + draw.integer(7),
                                    {.box = Box::periodic(2 * set.extent() + 1)}};
                EXPECT_TRUE(same_as_oracle(*points, 3, search, drawn_distribution(set.count(), ranks, draw),
                                           Order(set.count()), {}))
                    << name;
            }
        }
    }
}

/// Points that belong to ranks.
struct OwnedPoints {
    std::vector<std::vector<float>> of_ranks;

    explicit OwnedPoints(int ranks) : of_ranks(static_cast<std::size_t>(ranks)) {}
    void add(int rank, std::initializer_list<float> point) {
        std::vector<float>& mine = of_ranks[static_cast<std::size_t>(rank)];
        mine.insert(mine.end(), point);
    }
    [[nodiscard]] std::vector<float> all() const {
        std::vector<float> points;
        for (const std::vector<float>& mine : of_ranks) {
            points.insert(points.end(), mine.begin(), mine.end());
        }
        return points;
    }
    [[nodiscard]] RankFirsts firsts() const {
        RankFirsts firsts{0};
        for (const std::vector<float>& mine : of_ranks) {
            firsts.push_back(firsts.back() + static_cast<std::int64_t>(mine.size() / 3));
        }
        return firsts;
    }
};

TEST_F(DbscanOverRanksIn3D, BorderPointsBetweenClustersOfAnyRanks) {
    // A point at 0 with two core points at -1 and 1, each of which has four points within 1 besides, on any ranks.
    constexpr int ranks = 3;
    Random draw(302);
    OwnedPoints points(ranks);
    int pieces = 0;
    for (int first = 0; first < ranks; ++first) {
        for (int second = 0; second < ranks; ++second) {
            for (int border = 0; border < ranks; ++border) {
                for (int copies = 0; copies < 4; ++copies) { // satellites are on any rank
                    const float y = 10.0F * static_cast<float>(pieces++);
                    points.add(border, {0, y, 0});
                    for (const float side : {-1.0F, 1.0F}) {
                        points.add(side < 0 ? first : second, {side, y, 0});
                        for (const float away : {-0.875F, 0.875F}) {
                            points.add(static_cast<int>(draw.integer(ranks)), {side, y + away, 0});
                            points.add(static_cast<int>(draw.integer(ranks)), {side, y, away});
                        }
                    }
                }
            }
        }
    }
    const std::vector<float> all = points.all();
    const auto count = static_cast<std::int64_t>(all.size() / 3);
    const DbscanResult serial = dbscan(PointsView(all, 3), 1, 5);
    ASSERT_EQ(serial.clusters, 2 * pieces);
    ASSERT_EQ(serial.core_points, 2 * pieces);
    ASSERT_EQ(serial.noise_points, 0);
    for (const bool star : {false, true}) {
        const Search search{1, 5, {.star = star}};
        EXPECT_TRUE(same_as_oracle(all, 3, search, points.firsts(), Order(count), {}));
        EXPECT_TRUE(same_as_oracle(all, 3, search, points.firsts(), Order(count, draw), {}));
    }
}

TEST_F(DbscanOverRanksIn3D, CorePointsThatNoRankKnowsAlone) {
    // Each rank has one point of every clump, in which as many points coincide as there are ranks.
    for (const int ranks : {2, 3, 5}) {
        OwnedPoints points(ranks);
        for (int rank = 0; rank < ranks; ++rank) {
            for (int clump = 0; clump < 40; ++clump) {
                points.add(rank, {static_cast<float>(clump % 7), static_cast<float>(clump / 7), 0});
            }
        }
        const std::vector<float> all = points.all();
        for (const double eps : {0.0, 0.5, 1.0}) {
            for (const std::int64_t min_samples : {ranks, ranks + 1, 4 * ranks, 5 * ranks}) {
                EXPECT_TRUE(same_as_oracle(all, 3, {eps, min_samples, {}}, points.firsts(),
                                           Order(static_cast<std::int64_t>(all.size() / 3)), {}));
            }
        }
    }
}

TEST_F(DbscanOverRanksIn3D, OfCoincidentPointsFewTravel) {
    constexpr std::int64_t count = 20000;
    std::vector<float> points(3 * count, 0.25F);
    points[0] = 0.5F; // noise, or within eps
    for (const double eps : {0.0, 0.25}) {
        run_ranks(4, [&](Communicator& ranks) {
            const DbscanResult found = dbscan(part_of({points, 3}, evenly(count, 4), ranks.rank()), eps, 10,
                                              {.execution = over(ranks, cpu(1))});
            const std::int64_t noise = eps == 0 ? 1 : 0;
            EXPECT_EQ(found.sizes, std::vector<std::int64_t>{count - noise});
            EXPECT_EQ(found.noise_points, noise);
            EXPECT_LT(found.distribution->traffic.bytes_received, 200000);
        });
    }
}

TEST_F(DbscanOverRanksIn3D, ThreadsOfARankFindTheSame) {
    constexpr std::int64_t count = 100000;
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(count, 3, 0, 1, 303), 3);
    const DbscanResult serial = dbscan(PointsView(points, 3), 0.015, 4);
    ASSERT_GT(serial.clusters, 100);
    ASSERT_GT(serial.noise_points, 100);
    const RankFirsts firsts = evenly(count, 2);
    run_ranks(2, [&](Communicator& ranks) {
        const DbscanResult found =
            dbscan(part_of({points, 3}, firsts, ranks.rank()), 0.015, 4, {.execution = over(ranks, cpu(3))});
        EXPECT_EQ(found.sizes, serial.sizes);
        const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]);
        EXPECT_TRUE(std::ranges::equal(found.labels64(), serial.labels().subspan(first, found.is_core.size())));
        EXPECT_TRUE(std::ranges::equal(found.is_core, std::span(serial.is_core).subspan(first, found.is_core.size())));
    });
}

TEST_F(DbscanOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 304);
    const RankFirsts firsts = evenly(100, 4);
    const auto refuses = [&](ErrorKind kind, const std::vector<std::string>& words, const auto& call) {
        run_ranks(4, [&](Communicator& ranks) {
            EXPECT_TRUE(is_refused(kind, words, [&] {
                call(part_of({points, 3}, firsts, ranks.rank()), ranks.rank(), DbscanOptions{.execution = over(ranks)});
            }));
        });
    };
    using Points = const PointsView&;
    refuses(ErrorKind::invalid_argument, {"eps: 0.3 on rank 1, 0.2 on rank 0"},
            [](Points mine, int rank, const DbscanOptions& options) {
                (void)dbscan(mine, rank == 1 ? 0.3 : 0.2, 3, options);
            });
    refuses(ErrorKind::invalid_argument, {"min_samples: 4 on rank 2, 3 on rank 0"},
            [](Points mine, int rank, const DbscanOptions& options) {
                (void)dbscan(mine, 0.2, rank == 2 ? 4 : 3, options);
            });
    refuses(ErrorKind::invalid_argument, {"star: true on rank 3, false on rank 0"},
            [](Points mine, int rank, DbscanOptions options) {
                options.star = rank == 3;
                (void)dbscan(mine, 0.2, 3, options);
            });
    refuses(ErrorKind::invalid_argument, {"rank 1 called fof, rank 0 dbscan"},
            [](Points mine, int rank, const DbscanOptions& options) {
                if (rank == 1) {
                    (void)fof(mine, LinkingLength::absolute(0.2), {.execution = options.execution});
                } else {
                    (void)dbscan(mine, 0.2, 3, options);
                }
            });
    refuses(ErrorKind::invalid_argument, {"rank 3", "min_samples is 0"},
            [](Points mine, int rank, const DbscanOptions& options) {
                (void)dbscan(mine, 0.2, rank == 3 ? 0 : 3, options);
            });
    const auto with_eps = [](double eps) {
        return [eps](Points mine, int, const DbscanOptions& options) { (void)dbscan(mine, eps, 3, options); };
    };
    refuses(ErrorKind::invalid_argument, {"eps is 1e+40", "float32"}, with_eps(1e40));
    points[3 * 60 + 2] = -1e34F; // on rank 2, beside which eps vanishes
    refuses(ErrorKind::invalid_argument, {"coordinate 2 of point 60"}, with_eps(1e-3));
    points[3 * 60 + 2] = std::numeric_limits<float>::infinity();
    refuses(ErrorKind::invalid_points, {"rank 2", "point 10 has +infinity as coordinate 2"}, with_eps(1e-3));
}

} // namespace
} // namespace kith::test
