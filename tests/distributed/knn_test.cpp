// Neighbors over ranks against the serial search, which other suites hold against the oracle, bit for bit: every type,
// built dimension, point set and box, with ranks that own random parts and parts along an axis, one point or none.
#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/catalog.hpp>
#include <kith/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

struct Search {
    PointsView points;
    const PointsView* queries = nullptr;
    std::int64_t k = 1;
    KnnOptions options;
    bool rebalance = false;
    bool visits = false; ///< too
};

/// Searches over ranks and holds every rank's rows against those of one process.
template <class T>
testing::AssertionResult same_as_serial(const Search& search, const RankFirsts& points, const RankFirsts& queries) {
    KnnOptions options = search.options;
    options.index_type = IndexType::int64;
    const KnnResult serial = search.queries != nullptr ? knn(search.points, *search.queries, search.k, options)
                                                       : knn(search.points, search.k, options);
    const int ranks = static_cast<int>(points.size()) - 1;
    options.execution = cpu(1);
    std::mutex failing;
    testing::AssertionResult result = testing::AssertionSuccess();
    run_ranks(ranks, [&](Communicator& communicator) {
        const int rank = communicator.rank();
        const PointsView mine = part_of(search.points, points, rank);
        const RankFirsts& rows = search.queries != nullptr ? queries : points;
        const std::vector<float> weights = weights_for(mine.count());
        const RankOptions of_ranks{.rebalance = search.rebalance, .weights = weights};
        const KnnResult found = search.queries != nullptr
                                    ? knn(mine, part_of(*search.queries, queries, rank), search.k,
                                          over_ranks(communicator, options, of_ranks))
                                    : knn(mine, search.k, over_ranks(communicator, options, of_ranks));
        const std::int64_t first = rows[static_cast<std::size_t>(rank)];
        const std::int64_t count = rows[static_cast<std::size_t>(rank) + 1] - first;
        const auto from = static_cast<std::size_t>(first * search.k);
        const auto size = static_cast<std::size_t>(count * search.k);
        const KnnResult& own = found;
        const bool same = found.distribution->first == first && own.rows() == count &&
                          std::ranges::equal(own.indices64(), serial.indices64().subspan(from, size)) &&
                          (size == 0 || std::memcmp(own.distances<T>().data(), serial.distances<T>().data() + from,
                                                    size * sizeof(T)) == 0) &&
                          own.box == serial.box && own.unresolved.warning() == serial.unresolved.warning();
        if (search.visits) {
            std::vector<std::int64_t> indices(size, -7);
            std::vector<T> distances(size);
            const auto visit = [&](const NeighborBlock& block) {
                for (std::size_t i = 0; i < block.query_indices.size(); ++i) {
                    const auto to = static_cast<std::ptrdiff_t>(block.query_indices[i] * block.k);
                    const auto row = static_cast<std::ptrdiff_t>(i) * block.k;
                    std::copy_n(block.indices64().begin() + row, block.k, indices.begin() + to);
                    std::copy_n(block.distances<T>().begin() + row, block.k, distances.begin() + to);
                }
            };
            const SearchSummary visited =
                search.queries != nullptr
                    ? knn_visit(visit, mine, part_of(*search.queries, queries, rank), search.k,
                                over_ranks(communicator, options, of_ranks))
                    : knn_visit(visit, mine, search.k, over_ranks(communicator, options, of_ranks));
            const bool are_equal = std::ranges::equal(indices, own.indices64()) &&
                                   std::ranges::equal(distances, own.distances<T>()) && visited.box == serial.box &&
                                   visited.unresolved.warning() == serial.unresolved.warning();
            if (!are_equal) {
                const std::lock_guard lock(failing);
                result = testing::AssertionFailure()
                         << "the visitor of rank " << rank << " of " << ranks << " sees others";
            }
        }
        if (!same) {
            const std::lock_guard lock(failing);
            result = testing::AssertionFailure()
                     << "rank " << rank << " of " << ranks << ", k = " << search.k << ": " << own.unresolved.warning();
            for (std::size_t i = 0; i < size && own.rows() == count; ++i) {
                if (own.indices64()[i] != serial.indices64()[from + i] ||
                    own.distances<T>()[i] != serial.distances<T>()[from + i]) {
                    result << "row " << first + static_cast<std::int64_t>(i) / search.k << " has " << own.indices64()[i]
                           << " at " << own.distances<T>()[i] << ", not " << serial.indices64()[from + i] << " at "
                           << serial.distances<T>()[from + i];
                    break;
                }
            }
        }
    });
    return result;
}

class KnnOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, KnnOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(KnnOverRanks, HasTheBitsOfOneProcess) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 31 + static_cast<std::uint64_t>(set.dimension));
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, set.dimension);
        for (const NamedBox& named : set.boxes) {
            for (const bool separate : {false, true}) {
                const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
                const std::int64_t few[] = {1, 3, 16, 40, set.count() + 2};
                const std::vector<T> queries = queries_for(set, named.box, draw.integer(2) == 0 ? 9 : 120);
                const PointsView queries_view(queries, set.dimension);
                Search search{{draw.integer(3) == 0 ? set.coordinates : slabs, set.dimension},
                              separate ? &queries_view : nullptr,
                              few[draw.integer(std::size(few))],
                              {.box = named.box, .exclude_self = !separate && draw.integer(2) == 0}};
                search.options.squared = draw.integer(2) == 0;
                search.rebalance = draw.integer(3) == 0;
                search.visits = draw.integer(3) == 0;
                if (draw.integer(3) == 0) {
                    search.options.max_distance = set.extent() * 0.05;
                }
                EXPECT_TRUE(same_as_serial<T>(search, drawn_distribution(set.count(), ranks, draw),
                                              drawn_distribution(queries_view.count(), ranks, draw)))
                    << named.name << (separate ? ", separate queries" : "");
            }
        }
    });
}

class KnnOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(KnnOverRanksIn3D, OfEveryNumberOfRanks) {
    for (const char* name : {"clustered", "lattice", "coincident", "few_distinct"}) {
        const PointSet<float> set = point_set<float>(name, 3);
        const std::vector<float> slabs = along_the_first_axis(set.coordinates, 3);
        for (const int ranks : rank_counts) {
            for (const RankFirsts& points :
                 {evenly(set.count(), ranks), all_on(ranks / 2, set.count(), ranks), unevenly(set.count(), ranks)}) {
                const Search search{{slabs, 3}, nullptr, 16, {.box = set.boxes.back().box}};
                EXPECT_TRUE(same_as_serial<float>(search, points, {})) << name;
            }
        }
    }
}

TEST_F(KnnOverRanksIn3D, FewerPointsThanRanks) {
    const std::vector<double> points = uniform_points<double>(5, 3, -1, 1, 81);
    for (const std::int64_t k : {1, 3, 5, 9}) {
        for (const bool exclude_self : {false, true}) {
            const Search search{{points, 3}, nullptr, k, {.exclude_self = exclude_self}};
            EXPECT_TRUE(same_as_serial<double>(search, evenly(5, 8), {}));
            EXPECT_TRUE(
                same_as_serial<double>({PointsView(points, 3).subview(0, 0), nullptr, k, {}}, evenly(0, 3), {}));
        }
    }
}

// The scale of squared distances underflows, but a missing neighbor is infinitely far away.
TEST_F(KnnOverRanksIn3D, MissingNeighborsOfTinyPointsAreInfinitelyFar) {
    std::vector<double> points = uniform_points<double>(5, 3, -1, 1, 85);
    for (double& x : points) {
        x *= 1e-315;
    }
    Search search{{points, 3}, nullptr, 9, {.squared = true}};
    search.visits = true;
    EXPECT_TRUE(same_as_serial<double>(search, all_on(0, 5, 2), {}));
    EXPECT_TRUE(same_as_serial<double>(search, evenly(5, 2), {}));
}

// More rows than a block of them has, near other ranks or not; a lattice has many equal distances.
TEST_F(KnnOverRanksIn3D, VisitorsSeeTheRowsOfSeveralBlocks) {
    constexpr std::int64_t count = 50'000;
    std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 83);
    for (float& x : points) {
        x = std::floor(x * 64) / 64;
    }
    const std::vector<float> slabs = along_the_first_axis(points, 3);
    const std::vector<float> queries = uniform_points<float>(40'000, 3, 0, 1, 84);
    const PointsView queries_view(queries, 3);
    for (const bool are_slabs : {true, false}) {
        Search search{{are_slabs ? slabs : points, 3}, nullptr, 24, {.box = Box::periodic(1), .exclude_self = true}};
        search.visits = true;
        EXPECT_TRUE(same_as_serial<float>(search, evenly(count, 2), {}));
        search.queries = &queries_view;
        search.options.exclude_self = false;
        EXPECT_TRUE(same_as_serial<float>(search, evenly(count, 2), evenly(40'000, 2)));
    }
}

TEST_F(KnnOverRanksIn3D, CoincidentPointsFetchNoMoreThanARow) {
    // All at one place: a rank wants of the others the first points, not all of them.
    constexpr std::int64_t count = 20000;
    const std::vector<float> points(3 * count, 0.25F);
    const RankFirsts firsts = evenly(count, 4);
    run_ranks(4, [&](Communicator& ranks) {
        const KnnResult found = knn(part_of({points, 3}, firsts, ranks.rank()), 8, {.execution = over(ranks, cpu(1))});
        EXPECT_EQ(found.indices64()[7], 7);
        EXPECT_EQ(found.indices64().back(), 7);
        EXPECT_LT(found.distribution->traffic.bytes_received, 200000) << "rank " << ranks.rank();
    });
}

TEST_F(KnnOverRanksIn3D, SlabsExchangeLittleMoreThanTheirSurface) {
    const std::int64_t count = 40000;
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(count, 3, 0, 1, 82), 3);
    const RankFirsts firsts = evenly(count, 4);
    run_ranks(4, [&](Communicator& ranks) {
        const KnnResult found = knn(part_of({points, 3}, firsts, ranks.rank()), 8,
                                    {.box = Box::periodic(1), .execution = over(ranks, cpu(1))});
        EXPECT_LT(found.distribution->traffic.bytes_received,
                  count / 4 * 30); // far from the 60 bytes per point of all others
    });
}

TEST_F(KnnOverRanksIn3D, ABadPointIsNamedWithItsRank) {
    for (const int ranks : {1, 2, 5}) {
        const int bad = ranks - 1;
        std::vector<float> points = uniform_points<float>(10 * ranks, 3, 0, 1, 83);
        points[static_cast<std::size_t>(3 * (10 * bad + 4) + 1)] = std::numeric_limits<float>::quiet_NaN();
        const RankFirsts firsts = evenly(10 * ranks, ranks);
        std::atomic<int> refused = 0;
        run_ranks(ranks, [&](Communicator& communicator) {
            const std::string rank = ranks == 1 ? "points" : "rank " + std::to_string(bad) + ": points";
            const auto call = [&] {
                (void)knn(part_of({points, 3}, firsts, communicator.rank()), 3,
                          {.execution = over(communicator, cpu(1))});
            };
            EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {rank, "point 4 has NaN as coordinate 1"}, call));
            ++refused;
            EXPECT_EQ(knn(PointsView(points, 3).subview(0, 4), 3, {.execution = over(communicator)}).rows(),
                      4); // all go on
        });
        EXPECT_EQ(refused, ranks);
    }
}

TEST_F(KnnOverRanksIn3D, ABadQueryIsNamedWithItsRank) {
    const std::vector<float> points = uniform_points<float>(30, 3, 0, 1, 86);
    const RankFirsts firsts = evenly(30, 3);
    for (const bool rebalance : {false, true}) {
        for (const auto& [value, words] :
             {std::pair{std::numeric_limits<float>::quiet_NaN(), "queries: point 4 has NaN"},
              std::pair{3e38F, "queries: point 4 has 3.0"}}) {
            std::vector<float> queries = points;
            queries[3 * (10 * 1 + 4) + 2] = value; // near the others' points otherwise
            const std::string text = words;        // clang 14 captures no structured bindings
            run_ranks(3, [&](Communicator& ranks) {
                EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"rank 1: ", text, "coordinate 2"}, [&] {
                    (void)knn(part_of({points, 3}, firsts, ranks.rank()), part_of({queries, 3}, firsts, ranks.rank()),
                              3, {.execution = over(ranks, cpu(1), {.rebalance = rebalance})});
                })) << (rebalance ? "rebalanced" : "as they are");
            });
        }
    }
}

TEST_F(KnnOverRanksIn3D, RanksMustCallTheSame) {
    const std::vector<float> points = uniform_points<float>(50, 3, 0, 1, 87);
    const PointsView view(points, 3);
    run_ranks(3, [&](Communicator& ranks) {
        const bool other = ranks.rank() == 1;
        const auto refuses = [&](const std::string& names, const auto& call) {
            return is_refused(ErrorKind::invalid_argument, {"rank 1 called " + names, "the same function"}, call);
        };
        EXPECT_TRUE(refuses("radius_count, rank 0 radius_search", [&] {
            other ? (void)radius_count(view, 0.1, {.execution = over(ranks)})
                  : (void)radius_search(view, 0.1, {.execution = over(ranks)});
        }));
        EXPECT_TRUE(refuses("knn_visit, rank 0 knn", [&] {
            other ? (void)knn_visit([](const NeighborBlock&) {}, view, 4, {.execution = over(ranks)})
                  : (void)knn(view, 4, {.execution = over(ranks)});
        }));
        const FofResult groups = fof(view, LinkingLength::absolute(0.1), {.execution = over(ranks)});
        EXPECT_TRUE(refuses("catalog, rank 0 fof", [&] {
            other ? (void)catalog(groups, {view}, {.execution = over(ranks)})
                  : (void)fof(view, LinkingLength::absolute(0.1), {.execution = over(ranks)});
        }));
    });
}

TEST_F(KnnOverRanksIn3D, RanksMustPassTheSame) {
    const std::vector<float> points = uniform_points<float>(50, 3, 0, 1, 84);
    const PointsView view(points, 3);
    run_ranks(3, [&](Communicator& ranks) {
        const bool other = ranks.rank() == 2;
        const auto refuses = [&](const std::string& text, const auto& call) {
            return is_refused(ErrorKind::invalid_argument, {"rank 2", text}, call);
        };
        EXPECT_TRUE(refuses("k: 5 on rank 2, 4 on rank 0",
                            [&] { (void)knn(view, other ? 5 : 4, {.execution = over(ranks)}); }));
        EXPECT_TRUE(refuses("k is 0", [&] { (void)knn(view, other ? 0 : 4, {.execution = over(ranks)}); }));
        if (is_built(2)) {
            EXPECT_TRUE(refuses("dimension of the points: 2 on rank 2, 3 on rank 0", [&] {
                (void)knn(other ? PointsView(points, 2) : view, 4, {.execution = over(ranks)});
            }));
        }
        EXPECT_TRUE(refuses("period", [&] {
            (void)knn(view, 4, {.box = other ? Box::periodic(2) : Box::periodic(1), .execution = over(ranks)});
        }));
        EXPECT_TRUE(refuses("queries: given", [&] {
            (void)(other ? knn(view, view, 4, {.execution = over(ranks)}) : knn(view, 4, {.execution = over(ranks)}));
        }));
        EXPECT_TRUE(
            is_refused(ErrorKind::unsupported, {"rank 2", "not found over ranks on GPUs", "leave the GPU out"}, [&] {
                (void)knn_visit([](const NeighborBlock&) {}, view, 4,
                                {.execution = over(ranks, other ? on_no_gpu : cpu(1))});
            }));
    });
}

TEST_F(KnnOverRanksIn3D, ACanceledRankEndsTheCallOfAll) {
    const std::vector<float> points = uniform_points<float>(3000, 3, 0, 1, 85);
    const RankFirsts firsts = evenly(3000, 3);
    run_ranks(3, [&](Communicator& ranks) {
        const Execution execution =
            cpu(1, [&](std::string_view stage, double) { return ranks.rank() != 1 || stage != "search pieces"; });
        EXPECT_TRUE(is_refused(ErrorKind::canceled, {"rank 1", "search pieces"}, [&] {
            (void)knn(part_of({points, 3}, firsts, ranks.rank()), 8, {.execution = over(ranks, execution)});
        }));
    });
}

} // namespace
} // namespace kith::test
