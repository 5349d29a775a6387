// Searches of many queries in few sources, and few in many, against the oracle, bit for bit; and of a query as far out
// as the type allows.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kith::test {
namespace {

class QueryCounts : public NeedsDimension<3> {};

TEST_F(QueryCounts, ManyQueriesInFewSources) {
    const std::vector<float> sources = uniform_points<float>(5, 3, 0, 1, 21);
    const std::vector<float> queries = uniform_points<float>(sized(3000), 3, -1, 2, 22);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const oracle::Neighbors<float> expected(oracle::working_copy<float>(sources, 3, box), queries);
        for (const Engine engine : knn_engines()) {
            EXPECT_TRUE(
                same_rows<float>(knn(PointsView(sources, 3), PointsView(queries, 3), 4, {.box = box, .engine = engine}),
                                 expected.rows(4)));
        }
    }
}

TEST_F(QueryCounts, FewQueriesInManySources) {
    const std::vector<double> sources = uniform_points<double>(sized(20000), 3, 0, 1, 23);
    const std::vector<double> queries = uniform_points<double>(7, 3, -1, 2, 24);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const oracle::Neighbors<double> expected(oracle::working_copy<double>(sources, 3, box), queries);
        for (const Engine engine : knn_engines()) {
            EXPECT_TRUE(same_rows<double>(
                knn(PointsView(sources, 3), PointsView(queries, 3), 40, {.box = box, .engine = engine}),
                expected.rows(40)));
        }
    }
}

TEST_F(QueryCounts, AFarQueryStillFindsTheNearest) {
    // Scaled, the query is just below 2^62, the farthest that float32 allows.
    const std::vector<float> sources{0, 0, 0, 1, 1, 1, 0.5F, 0, 0};
    const std::vector<float> queries{0x1.8p14F, 0, 0, 0, -0x1.8p14F, 0};
    const oracle::Neighbors<float> expected(oracle::working_copy<float>(sources, 3), queries);
    for (const Engine engine : knn_engines()) {
        EXPECT_TRUE(same_rows<float>(knn(PointsView(sources, 3), PointsView(queries, 3), 3, {.engine = engine}),
                                     expected.rows(3)));
    }
}

} // namespace
} // namespace kith::test
