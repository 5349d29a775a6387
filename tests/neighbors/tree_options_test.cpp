// Answers do not depend on how the tree is cut: every combination of leaf size, coarsening, top size and regularization
// gives the oracle's rows, for self-searches and for separate queries.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kith::test {
namespace {

class TheShapeOfTheTreeDoesNotMatter : public testing::TestWithParam<Case> {};

TEST_P(TheShapeOfTheTreeDoesNotMatter, ForAnyRow) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const NamedBox& named = set.boxes.at(GetParam().dimension == 3 ? 1 : 0);
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
        const oracle::Neighbors<T> expected(copy);
        const std::vector<T> queries = queries_for(set, named.box, 140);
        const oracle::Neighbors<T> expected_of_queries(copy, queries);
        for (const int leaf_size : {1, 4, 24}) {
            for (const int coarsening : {2, 8}) {
                for (const int top_size : {1, 256}) {
                    for (const double regularization : {0.0, 50.0}) {
                        const Tree tree(set.view(),
                                        {.box = named.box, .shape = {leaf_size, coarsening, top_size, regularization}});
                        for (const std::int64_t k : {1, 16, 100}) {
                            const KnnOptions options{.exclude_self = k == 16, .engine = Engine::tree};
                            EXPECT_TRUE(same_rows<T>(knn(tree, k, options), expected.rows(k, options)))
                                << "box " << named.name << ", k " << k << ", leaf_size " << leaf_size << ", coarsening "
                                << coarsening << ", top_size " << top_size << ", regularization " << regularization;
                        }
                        EXPECT_TRUE(
                            same_rows<T>(knn(tree, PointsView(queries, set.dimension), 9, {.engine = Engine::tree}),
                                         expected_of_queries.rows(9)))
                            << "separate queries, leaf_size " << leaf_size << ", coarsening " << coarsening
                            << ", top_size " << top_size << ", regularization " << regularization;
                    }
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, TheShapeOfTheTreeDoesNotMatter,
                         testing::ValuesIn(cases_of({"uniform", "clustered", "lattice", "coincident", "few_distinct",
                                                     "far_outlier", "mixed_signs", "one"})),
                         case_name);

class LargerSets : public NeedsDimension<3> {};

TEST_F(LargerSets, ForALargerSet) {
    const std::int64_t count = sized(3000);
    const std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 31);
    const oracle::Neighbors<float> expected(oracle::working_copy<float>(points, 3, Box::periodic(1)), 40);
    for (const int leaf_size : {2, 24, 100}) {
        const Tree tree(PointsView(points, 3),
                        {.box = Box::periodic(1), .shape = {.leaf_size = leaf_size, .top_size = 4}});
        EXPECT_TRUE(same_rows<float>(knn(tree, 33, {.engine = Engine::tree}), expected.rows(33))) << leaf_size;
    }
}

} // namespace
} // namespace kith::test
