// Neighbors within a radius over ranks against the serial search, which other suites hold against the oracle, bit for
// bit: every type, built dimension, point set and box.
#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace kith::test {
namespace {

struct Search {
    PointsView points;
    const PointsView* queries = nullptr;
    std::vector<double> radii; ///< one, or one for each query
    RadiusOptions options;
    bool rebalance = false;

    [[nodiscard]] Radii part(const RankFirsts& rows, int rank) const {
        if (radii.size() == 1) {
            return radii[0];
        }
        const auto i = static_cast<std::size_t>(rank);
        return std::span(radii).subspan(static_cast<std::size_t>(rows[i]),
                                        static_cast<std::size_t>(rows[i + 1] - rows[i]));
    }
};

/// Searches over ranks and holds every rank's rows and counts against those of one process.
template <class T>
testing::AssertionResult same_as_serial(const Search& search, const RankFirsts& points, const RankFirsts& queries) {
    RadiusOptions options = search.options;
    options.index_type = IndexType::int64;
    const Radii all = search.radii.size() == 1 ? Radii(search.radii[0]) : Radii(search.radii);
    const RadiusResult serial = search.queries != nullptr ? radius_search(search.points, *search.queries, all, options)
                                                          : radius_search(search.points, all, options);
    const int ranks = static_cast<int>(points.size()) - 1;
    const RankFirsts& rows = search.queries != nullptr ? queries : points;
    options.execution = cpu(1);
    std::mutex failing;
    testing::AssertionResult result = testing::AssertionSuccess();
    run_ranks(ranks, [&](Communicator& communicator) {
        const int rank = communicator.rank();
        const PointsView mine = part_of(search.points, points, rank);
        const Radii radii = search.part(rows, rank);
        const std::vector<float> weights = weights_for(mine.count());
        const RadiusOptions together =
            over_ranks(communicator, options, {.rebalance = search.rebalance, .weights = weights});
        RadiusResult found;
        RadiusCounts counts;
        if (search.queries != nullptr) {
            const PointsView my_queries = part_of(*search.queries, queries, rank);
            found = radius_search(mine, my_queries, radii, together);
            counts = radius_count(mine, my_queries, radii, together);
        } else {
            found = radius_search(mine, radii, together);
            counts = radius_count(mine, radii, together);
        }
        const std::int64_t first = rows[static_cast<std::size_t>(rank)];
        const std::int64_t count = rows[static_cast<std::size_t>(rank) + 1] - first;
        const RadiusResult& own = found;
        bool same = found.distribution->first == first && own.rows() == count && std::ssize(counts.counts) == count &&
                    own.box == serial.box && own.unresolved.warning() == serial.unresolved.warning();
        for (std::int64_t row = 0; same && row < count; ++row) {
            const auto at = static_cast<std::size_t>(own.offsets()[static_cast<std::size_t>(row)]);
            const auto serial_at = static_cast<std::size_t>(serial.offsets()[static_cast<std::size_t>(first + row)]);
            const auto size = static_cast<std::size_t>(own.offsets()[static_cast<std::size_t>(row) + 1]) - at;
            same = static_cast<std::size_t>(serial.offsets()[static_cast<std::size_t>(first + row) + 1]) - serial_at ==
                       size &&
                   counts.counts[static_cast<std::size_t>(row)] == static_cast<std::int64_t>(size) &&
                   std::ranges::equal(own.indices64().subspan(at, size), serial.indices64().subspan(serial_at, size)) &&
                   (size == 0 || std::memcmp(own.distances<T>().data() + at, serial.distances<T>().data() + serial_at,
                                             size * sizeof(T)) == 0);
            if (!same) {
                const std::lock_guard lock(failing);
                return void(result = testing::AssertionFailure()
                                     << "rank " << rank << " of " << ranks << ", row " << row << " of " << size);
            }
        }
        if (!same) {
            const std::lock_guard lock(failing);
            result = testing::AssertionFailure() << "rank " << rank << " of " << ranks << ": shape, box or "
                                                 << own.unresolved.warning() << ", not " << serial.unresolved.warning();
        }
    });
    return result;
}

class RadiusOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, RadiusOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(RadiusOverRanks, HasTheBitsOfOneProcess) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 41 + static_cast<std::uint64_t>(set.dimension));
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, set.dimension);
        for (const NamedBox& named : set.boxes) {
            for (const bool separate : {false, true}) {
                const std::vector<T> queries = queries_for(set, named.box, 40);
                const PointsView queries_view(queries, set.dimension);
                Search search{{draw.integer(3) == 0 ? set.coordinates : slabs, set.dimension},
                              separate ? &queries_view : nullptr,
                              {0},
                              {.box = named.box, .exclude_self = !separate && draw.integer(2) == 0}};
                search.options.squared = draw.integer(2) == 0;
                search.options.order = draw.integer(2) == 0 ? RowOrder::distance : RowOrder::index;
                const double some[] = {0, set.extent() * 0.02, set.extent() * 0.1, set.extent() * 0.3,
                                       std::numeric_limits<double>::infinity()};
                const auto drawn_radius = [&] { return some[draw.integer(set.count() > 400 ? 4 : 5)]; };
                const std::int64_t rows = separate ? queries_view.count() : set.count();
                search.radii = {drawn_radius()};
                const std::int64_t radii = draw.integer(3) == 0 ? 1 : rows; // one, or one for each
                while (std::ssize(search.radii) < radii) {
                    search.radii.push_back(drawn_radius());
                }
                const auto working = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
                if (std::ranges::any_of(search.radii,
                                        [&](double radius) { return oracle::is_refused(working, radius); })) {
                    continue;
                }
                search.rebalance = draw.integer(3) == 0;
                const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
                EXPECT_TRUE(same_as_serial<T>(search, drawn_distribution(set.count(), ranks, draw),
                                              drawn_distribution(queries_view.count(), ranks, draw)))
                    << named.name << (separate ? ", separate queries" : "");
            }
        }
    });
}

class RadiusOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(RadiusOverRanksIn3D, OneRadiusForEachPoint) {
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(500, 3, 0, 1, 401), 3);
    std::vector<double> radii;
    for (int i = 0; i < 500; ++i) {
        radii.push_back(i % 50 == 0 ? std::numeric_limits<double>::infinity() : 0.01 * (i % 20));
    }
    for (const int ranks : rank_counts) {
        for (const bool exclude_self : {false, true}) {
            const Search search{{points, 3}, nullptr, radii, {.exclude_self = exclude_self}};
            EXPECT_TRUE(same_as_serial<float>(search, evenly(500, ranks), {}));
            EXPECT_TRUE(same_as_serial<float>(search, unevenly(500, ranks), {}));
        }
    }
}

TEST_F(RadiusOverRanksIn3D, PointsFarAwayDoNotTravel) {
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(20000, 3, 0, 1, 402), 3);
    run_ranks(4, [&](Communicator& ranks) {
        const RadiusCounts found = radius_count(part_of({points, 3}, evenly(20000, 4), ranks.rank()), 0.01,
                                                {.execution = over(ranks, cpu(1))});
        EXPECT_LT(found.distribution->traffic.bytes_sent, 60000); // the points of a rank are as many bytes
        EXPECT_EQ(std::ranges::count(found.stages, "count", &StageReport::name), 1) << "of own points and of others";
    });
}

TEST_F(RadiusOverRanksIn3D, TheQueryThatIsExcludedTakesNoMemory) {
    const std::vector<float> points = uniform_points<float>(60, 3, 0, 1, 404);
    constexpr std::int64_t bytes_each = 8 + 4;
    for (const bool exclude_self : {false, true}) {
        const std::int64_t on_a_rank = 30 * (exclude_self ? 59 : 60); // neighbors within any distance
        run_ranks(2, [&](Communicator& ranks) {
            const PointsView mine = part_of({points, 3}, evenly(60, 2), ranks.rank());
            const auto search = [&](std::int64_t bytes) {
                return radius_search(
                    mine, 2,
                    {.exclude_self = exclude_self, .max_result_bytes = bytes, .execution = over(ranks, cpu(1))});
            };
            EXPECT_EQ(search(on_a_rank * bytes_each).size(), on_a_rank);
            EXPECT_TRUE(is_refused(ErrorKind::out_of_memory,
                                   {"rank 0", "the result has " + std::to_string(on_a_rank) + " neighbors",
                                    "max_result_bytes is " + std::to_string(on_a_rank * bytes_each - 1)},
                                   [&] { (void)search(on_a_rank * bytes_each - 1); }));
        });
    }
}

TEST_F(RadiusOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 403);
    const RankFirsts firsts = evenly(100, 4);
    const auto refuses = [&](ErrorKind kind, const std::vector<std::string>& words, const auto& radii_of,
                             const RadiusOptions& options = {}) {
        run_ranks(4, [&](Communicator& ranks) {
            const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
            EXPECT_TRUE(is_refused(
                kind, words, [&] { (void)radius_search(mine, radii_of(ranks.rank()), over_ranks(ranks, options)); }));
        });
    };
    refuses(ErrorKind::invalid_argument, {"rank 1", "0.3", "0.2"}, [](int rank) { return rank == 1 ? 0.3 : 0.2; });
    refuses(ErrorKind::invalid_argument, {"rank 0", "-1"}, [](int) { return -1.0; });
    const std::vector<double> each(25, 0.1);
    const std::vector<double> bad(24, 0.1);
    refuses(ErrorKind::invalid_argument, {"rank 2", "24 radii for 25 queries"},
            [&](int rank) { return Radii(rank == 2 ? bad : each); });
    refuses(ErrorKind::invalid_argument, {"rank 2", "one radius"},
            [&](int rank) { return rank == 2 ? Radii(0.1) : Radii(each); });
    refuses(ErrorKind::out_of_memory, {"max_result_bytes is 7"}, [](int) { return 0.5; }, {.max_result_bytes = 7});
    points[3 * 60 + 2] = -1e34F; // on rank 2, beside which the radius vanishes
    refuses(ErrorKind::invalid_argument, {"coordinate 2 of point 60"}, [](int) { return 1e-3; });
    const std::vector<double> large(25, 1e33);
    std::vector<double> one_small = large;
    one_small[7] = 1e-3;
    refuses(ErrorKind::invalid_argument, {"rank 1", "radius of query 7 is 0.001", "coordinate 2 of point 60"},
            [&](int rank) { return Radii(rank == 1 ? one_small : large); });
}

} // namespace
} // namespace kith::test
