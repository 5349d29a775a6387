// Ids in place of global indices: the answers are those of one process that holds the points by ascending id.
#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/catalog.hpp>
#include <kith/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// Points in the order of ranks with an id each, and the same by ascending id.
struct Numbered {
    std::vector<float> points;
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> position; ///< of each point by ascending id
    std::vector<float> by_id;
    std::vector<std::int64_t> ids_by_id;

    Numbered(std::vector<float> coordinates, Random& draw) : points(std::move(coordinates)) {
        const auto count = static_cast<std::int64_t>(points.size() / 3);
        std::vector<std::int64_t> order(static_cast<std::size_t>(count)); // of the points by ascending id
        std::iota(order.begin(), order.end(), 0);
        for (std::int64_t i = count - 1; i > 0; --i) {
            std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(draw.integer(i + 1))]);
        }
        ids.resize(order.size());
        position.resize(order.size());
        std::int64_t id = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto point = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
            position[point] = i;
            ids[point] = id;
            ids_by_id.push_back(id);
            by_id.insert(by_id.end(), points.begin() + 3 * order[static_cast<std::size_t>(i)],
                         points.begin() + 3 * order[static_cast<std::size_t>(i)] + 3);
            id += i % 5 == 0 ? std::int64_t{1} << 40 : 1 + draw.integer(3);
        }
    }
    [[nodiscard]] PointsView view() const { return {points, 3}; }
    [[nodiscard]] PointsView view_by_id() const { return {by_id, 3}; }
    [[nodiscard]] std::span<const std::int64_t> part(const RankFirsts& firsts, int rank) const {
        const auto i = static_cast<std::size_t>(rank);
        return std::span(ids).subspan(static_cast<std::size_t>(firsts[i]),
                                      static_cast<std::size_t>(firsts[i + 1] - firsts[i]));
    }
    /// Whether a row of ids is the one of indices into the points by ascending id.
    [[nodiscard]] bool are_same(std::span<const std::int64_t> found, std::span<const std::int64_t> indices) const {
        return std::ranges::equal(found, indices, {}, {}, [&](std::int64_t index) {
            return index < 0 ? -1 : ids_by_id[static_cast<std::size_t>(index)];
        });
    }
};

/// Calls check(points, distribution) for sets with many ties, in the order of ranks' slabs and in none.
template <class Check>
void for_numbered_sets(const Check& check) {
    Random draw(501);
    for (const char* name : {"lattice", "coincident", "few_distinct", "clustered"}) {
        const PointSet<float> set = point_set<float>(name, 3);
        for (const bool sorted : {false, true}) {
            const Numbered points(sorted ? along_the_first_axis(set.coordinates, 3) : set.coordinates, draw);
            for (const int ranks : {1, 2, 3, 5, 8}) {
                SCOPED_TRACE(std::string(name) + " over " + std::to_string(ranks));
                check(points, drawn_distribution(set.count(), ranks, draw), set.boxes.back().box, set.extent());
            }
        }
    }
}

class Ids : public NeedsDimension<3> {};

TEST_F(Ids, AloneDecideTiesOfNeighbors) {
    for_numbered_sets([](const Numbered& points, const RankFirsts& firsts, const Box& box, double) {
        for (const bool exclude_self : {false, true}) {
            const KnnOptions options{
                .box = box, .exclude_self = exclude_self, .index_type = IndexType::int64, .execution = cpu(1)};
            const KnnResult serial = knn(points.view_by_id(), 11, options);
            const PointsView queries =
                points.view_by_id().subview(0, std::min<std::int64_t>(20, points.view().count()));
            KnnOptions of_queries = options;
            of_queries.exclude_self = false;
            const KnnResult of_others = knn(points.view_by_id(), queries, 11, of_queries);
            run_ranks(static_cast<int>(firsts.size()) - 1, [&](Communicator& ranks) {
                const PointsView mine = part_of(points.view(), firsts, ranks.rank());
                const RankOptions ids{.ids = points.part(firsts, ranks.rank()), .rebalance = ranks.size() % 3 == 2};
                const KnnResult found = knn(mine, 11, over_ranks(ranks, options, ids));
                for (std::int64_t row = 0; row < mine.count(); ++row) {
                    const auto at = static_cast<std::size_t>(row * 11);
                    const auto global = firsts[static_cast<std::size_t>(ranks.rank())] + row;
                    const auto serial_at =
                        static_cast<std::size_t>(points.position[static_cast<std::size_t>(global)] * 11);
                    ASSERT_TRUE(
                        points.are_same(found.indices64().subspan(at, 11), serial.indices64().subspan(serial_at, 11)))
                        << "row " << row << " of rank " << ranks.rank();
                    ASSERT_TRUE(std::ranges::equal(found.distances<float>().subspan(at, 11),
                                                   serial.distances<float>().subspan(serial_at, 11)));
                }
                std::vector<std::int64_t> visited(found.indices64().size(), -7);
                const auto visit = [&](const NeighborBlock& block) {
                    for (std::int64_t row = 0; row < block.rows(); ++row) {
                        std::ranges::copy(block.indices64().subspan(static_cast<std::size_t>(row * 11), 11),
                                          visited.begin() + block.query_indices[static_cast<std::size_t>(row)] * 11);
                    }
                };
                knn_visit(visit, mine, 11, over_ranks(ranks, options, ids));
                EXPECT_TRUE(std::ranges::equal(visited, found.indices64()));
                const KnnResult separate = knn(mine, queries, 11, over_ranks(ranks, of_queries, ids));
                EXPECT_TRUE(points.are_same(separate.indices64(), of_others.indices64()));
            });
        }
    });
}

TEST_F(Ids, AloneDecideTiesWithinARadius) {
    for_numbered_sets([](const Numbered& points, const RankFirsts& firsts, const Box& box, double extent) {
        for (const RowOrder order : {RowOrder::distance, RowOrder::index}) {
            const RadiusOptions options{.box = box,
                                        .exclude_self = order == RowOrder::index,
                                        .order = order,
                                        .index_type = IndexType::int64,
                                        .execution = cpu(1)};
            const double radius = extent * 0.05;
            const RadiusResult serial = radius_search(points.view_by_id(), radius, options);
            run_ranks(static_cast<int>(firsts.size()) - 1, [&](Communicator& ranks) {
                const RadiusResult found = radius_search(
                    part_of(points.view(), firsts, ranks.rank()), radius,
                    over_ranks(ranks, options,
                               {.ids = points.part(firsts, ranks.rank()), .rebalance = ranks.size() % 3 == 2}));
                for (std::int64_t row = 0; row < found.rows(); ++row) {
                    const auto global = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())] + row);
                    const auto of = [](const RadiusResult& rows, std::int64_t i) {
                        const auto begin = rows.offsets()[static_cast<std::size_t>(i)];
                        const auto end = rows.offsets()[static_cast<std::size_t>(i) + 1];
                        return rows.indices64().subspan(static_cast<std::size_t>(begin),
                                                        static_cast<std::size_t>(end - begin));
                    };
                    ASSERT_TRUE(points.are_same(of(found, row), of(serial, points.position[global])))
                        << "row " << row << " of rank " << ranks.rank();
                }
            });
        }
    });
}

TEST_F(Ids, NumberGroupsAndOrderTheirMembers) {
    for_numbered_sets([](const Numbered& points, const RankFirsts& firsts, const Box& box, double extent) {
        const auto size = static_cast<int>(firsts.size()) - 1;
        const FofOptions options{.box = box, .execution = cpu(1)};
        const LinkingLength length = LinkingLength::absolute(extent * 0.03);
        const FofResult serial = fof(points.view_by_id(), length, options);
        std::vector<std::uint8_t> types;
        std::vector<std::uint8_t> types_by_id(points.ids.size());
        for (std::size_t i = 0; i < points.ids.size(); ++i) {
            types.push_back(static_cast<std::uint8_t>(i % 3));
            types_by_id[static_cast<std::size_t>(points.position[i])] = types.back();
        }
        Particles all{points.view_by_id(), points.view_by_id()};
        all.types = types_by_id;
        const Catalog expected = catalog(serial, all, {.min_members = 2});
        std::vector<Catalog> parts(static_cast<std::size_t>(size));
        run_ranks(size, [&](Communicator& ranks) {
            const PointsView mine = part_of(points.view(), firsts, ranks.rank());
            const RankOptions ids{.ids = points.part(firsts, ranks.rank()), .rebalance = ranks.size() % 3 == 2};
            const FofResult found = fof(mine, length, over_ranks(ranks, options, ids));
            EXPECT_EQ(found.groups, serial.groups);
            const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]);
            for (std::size_t row = 0; row < found.labels64().size(); ++row) {
                ASSERT_EQ(found.labels64()[row],
                          serial.label_array[static_cast<std::size_t>(points.position[first + row])])
                    << "row " << row << " of rank " << ranks.rank();
            }
            Particles particles{mine, mine};
            particles.types = std::span(types).subspan(first, found.labels64().size());
            parts[static_cast<std::size_t>(ranks.rank())] =
                catalog(found, particles, {.min_members = 2, .execution = over(ranks, cpu(1), ids)});
        });
        std::vector<std::int64_t> members;
        std::vector<double> centers;
        std::vector<double> spreads;
        for (const Catalog& part : parts) {
            members.insert(members.end(), part.members64().begin(), part.members64().end());
            centers.insert(centers.end(), part.center.begin(), part.center.end());
            spreads.insert(spreads.end(), part.velocity_dispersion.begin(), part.velocity_dispersion.end());
        }
        EXPECT_TRUE(
            points.are_same(members, std::vector<std::int64_t>(expected.members().begin(), expected.members().end())));
        EXPECT_EQ(centers, expected.center);
        EXPECT_EQ(spreads, expected.velocity_dispersion);
    });
}

TEST_F(Ids, NameUnresolvedQueriesAndTheFarthestPoint) {
    std::vector<float> coordinates = uniform_points<float>(80, 3, 0, 1, 503);
    coordinates[3 * 17 + 1] = 3e33F; // two placeholders as far away as each other, on different ranks
    coordinates[3 * 70 + 2] = -3e33F;
    Random draw(504);
    for (int round = 0; round < 8; ++round) {
        const Numbered points(coordinates, draw);
        const auto named = [&](UnresolvedRows rows) {
            rows.first_query = points.ids_by_id[static_cast<std::size_t>(rows.first_query)];
            rows.farthest_point = points.ids_by_id[static_cast<std::size_t>(rows.farthest_point)];
            return rows.warning();
        };
        const KnnResult serial = knn(points.view_by_id(), 3);
        ASSERT_GT(serial.unresolved.rows, 0);
        const RadiusResult within = radius_search(points.view_by_id(), 1e30);
        ASSERT_GT(within.unresolved.rows, 0);
        run_ranks(3, [&](Communicator& ranks) {
            const RankFirsts firsts = evenly(80, 3);
            const PointsView mine = part_of(points.view(), firsts, ranks.rank());
            const KnnOptions options{.execution = cpu(1)};
            RankOptions ids{.ids = points.part(firsts, ranks.rank())};
            EXPECT_EQ(knn(mine, 3, over_ranks(ranks, options, ids)).unresolved.warning(), named(serial.unresolved));
            EXPECT_EQ(
                knn_visit([](const NeighborBlock&) {}, mine, 3, over_ranks(ranks, options, ids)).unresolved.warning(),
                named(serial.unresolved));
            EXPECT_EQ(radius_search(mine, 1e30, {.execution = over(ranks, cpu(1), ids)}).unresolved.warning(),
                      named(within.unresolved));
            ids.rebalance = true;
            EXPECT_EQ(knn(mine, 3, over_ranks(ranks, options, ids)).unresolved.warning(), named(serial.unresolved));
            EXPECT_EQ(
                knn_visit([](const NeighborBlock&) {}, mine, 3, over_ranks(ranks, options, ids)).unresolved.warning(),
                named(serial.unresolved));
            EXPECT_EQ(radius_search(mine, 1e30, {.execution = over(ranks, cpu(1), ids)}).unresolved.warning(),
                      named(within.unresolved));
        });
    }
}

TEST_F(Ids, AreOneForEachPointAndUnique) {
    const std::vector<float> points = uniform_points<float>(40, 3, 0, 1, 502);
    const RankFirsts firsts = evenly(40, 4);
    std::vector<std::int64_t> ids(40);
    std::iota(ids.rbegin(), ids.rend(), 100);
    const auto refuses = [&](const std::vector<std::string>& words, const std::vector<std::int64_t>& given,
                             int lacks = -1) {
        run_ranks(4, [&](Communicator& ranks) {
            RankOptions options{.ids = std::span(given).subspan(static_cast<std::size_t>(10 * ranks.rank()), 10)};
            options.ids = ranks.rank() == lacks ? options.ids.subview(0, 9) : options.ids;
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words, [&] {
                (void)knn(part_of({points, 3}, firsts, ranks.rank()), 3, {.execution = over(ranks, cpu(1), options)});
            }));
        });
    };
    refuses({"rank 2", "there are 9 for 10 points"}, ids, 2);
    std::vector<std::int64_t> twice = ids;
    twice[12] = ids[37];
    refuses({"a point of rank 1 and one of rank 3 have the id 102"}, twice);
    twice = ids;
    twice[12] = ids[15];
    refuses({"two points of rank 1 have the id 124"}, twice);
    std::vector<std::int64_t> negative = ids;
    negative[33] = -5;
    refuses({"rank 3", "row 3 has -5"}, negative);
    const std::vector<std::uint64_t> huge(40, (std::uint64_t{1} << 63) + 5);
    run_ranks(2, [&](Communicator& ranks) {
        EXPECT_TRUE(
            is_refused(ErrorKind::invalid_argument, {"rank 0", "row 0 has 9223372036854775813", "2^63 - 1"}, [&] {
                (void)knn(PointsView(points.data(), 40, 3), 3, {.execution = over(ranks, cpu(1), {.ids = huge})});
            }));
    });
}

TEST_F(Ids, AreOfAnyIntegerTypeAndLayout) {
    struct Particle {
        float position[3];
        std::uint32_t id;
    };
    const std::vector<float> points = uniform_points<float>(60, 3, 0, 1, 503);
    std::vector<Particle> particles;
    std::vector<std::int64_t> ids;
    std::vector<std::uint64_t> unsigned_ids;
    for (std::size_t i = 0; i < 60; ++i) {
        const auto id = static_cast<std::uint32_t>((i * 37) % 60 + 4000000000U);
        particles.push_back({{points[3 * i], points[3 * i + 1], points[3 * i + 2]}, id});
        ids.push_back(id);
        unsigned_ids.push_back(id);
    }
    run_ranks(3, [&](Communicator& ranks) {
        const std::span<const Particle> mine =
            std::span(particles).subspan(static_cast<std::size_t>(20 * ranks.rank()), 20);
        const PointsView view(mine, &Particle::position);
        const auto neighbors_with = [&](const IntegersView& given, bool rebalance) {
            const KnnResult found =
                knn(view, 4, {.execution = over(ranks, cpu(1), {.ids = given, .rebalance = rebalance})});
            const std::span<const std::int64_t> indices = found.indices64();
            return std::vector(indices.begin(), indices.end());
        };
        const auto expected =
            neighbors_with(std::span(ids).subspan(static_cast<std::size_t>(20 * ranks.rank()), 20), false);
        EXPECT_EQ(neighbors_with(IntegersView(mine, &Particle::id), false), expected);
        EXPECT_EQ(neighbors_with(IntegersView(unsigned_ids).subview(20 * ranks.rank(), 20), true), expected);
    });
}

} // namespace
} // namespace kith::test
