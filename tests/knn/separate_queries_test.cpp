// Searches with separate queries against the oracle, bit for bit: few queries in many sources, many in few, and queries
// far outside the box, which are wrapped.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kith::test {
namespace {

class SeparateQueries : public testing::TestWithParam<Case> {};

TEST_P(SeparateQueries, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(2);
        for (const NamedBox& named : set.boxes) {
            const Tree tree(set.view(), named.box);
            for (const std::int64_t count : {std::int64_t{0}, std::int64_t{3}, set.count() / 2 + 40}) {
                const std::vector<T> queries = queries_for(set, named.box, count);
                const PointsView view(queries, set.dimension);
                const oracle::Neighbors<T> expected(oracle::working_copy<T>(set.coordinates, set.dimension, named.box),
                                                    queries);
                for (const std::int64_t k : {std::int64_t{1}, std::int64_t{16}, std::int64_t{50}, set.count() + 2}) {
                    for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
                        KnnOptions options{.squared = draw.integer(2) == 0, .engine = engine};
                        if (draw.integer(3) == 0) {
                            options.max_distance = set.extent() * draw.uniform();
                        }
                        const Execution execution = cpu(static_cast<int>(draw.integer(4)));
                        const KnnResult found = draw.integer(2) == 0
                                                    ? knn(tree, view, k, options, execution)
                                                    : knn(set.view(), view, k, named.box, options, execution);
                        EXPECT_EQ(found.rows(), count);
                        EXPECT_TRUE(same_rows<T>(found, expected.rows(k, options)))
                            << "box " << named.name << ", " << count << " queries, k " << k << ", engine "
                            << name_of(engine) << ", max_distance " << options.max_distance << ", squared "
                            << options.squared;
                    }
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, SeparateQueries, testing::ValuesIn(every_case()), case_name);

class QueryCounts : public NeedsDimension<3> {};

TEST_F(QueryCounts, ManyQueriesInFewSources) {
    const std::vector<float> sources = uniform_points<float>(5, 3, 0, 1, 21);
    const std::vector<float> queries = uniform_points<float>(sized(3000), 3, -1, 2, 22);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const oracle::Neighbors<float> expected(oracle::working_copy<float>(sources, 3, box), queries);
        for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
            EXPECT_TRUE(same_rows<float>(
                knn(PointsView(sources, 3), PointsView(queries, 3), 4, box, {.engine = engine}), expected.rows(4)));
        }
    }
}

TEST_F(QueryCounts, FewQueriesInManySources) {
    const std::vector<double> sources = uniform_points<double>(sized(20000), 3, 0, 1, 23);
    const std::vector<double> queries = uniform_points<double>(7, 3, -1, 2, 24);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const oracle::Neighbors<double> expected(oracle::working_copy<double>(sources, 3, box), queries);
        for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
            EXPECT_TRUE(same_rows<double>(
                knn(PointsView(sources, 3), PointsView(queries, 3), 40, box, {.engine = engine}), expected.rows(40)));
        }
    }
}

TEST_F(QueryCounts, AFarQueryStillFindsTheNearest) {
    // Scaled, the query is just below 2^62, the farthest that float32 allows.
    const std::vector<float> sources{0, 0, 0, 1, 1, 1, 0.5F, 0, 0};
    const std::vector<float> queries{0x1.8p30F, 0, 0, 0, -0x1.8p30F, 0};
    const oracle::Neighbors<float> expected(oracle::working_copy<float>(sources, 3), queries);
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        EXPECT_TRUE(same_rows<float>(knn(PointsView(sources, 3), PointsView(queries, 3), 3, {}, {.engine = engine}),
                                     expected.rows(3)));
    }
}

} // namespace
} // namespace kith::test
