// Rows in z-order: the rows in input order, permuted as the tree orders their queries, whatever the call; and what has
// no such rows is refused. The conformance suites compare them with the oracle.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

class ZOrder : public NeedsDimension<3> {
protected:
    std::vector<float> points = uniform_points<float>(500, 3, 0, 1, 41);
    std::vector<float> queries = uniform_points<float>(90, 3, -0.2, 1.2, 42);
    Tree tree{PointsView(points, 3)};
};

/// The z-order of points in open space.
template <class T>
std::vector<std::int32_t> order_of(const std::vector<T>& points, int dimension) {
    const Tree tree(PointsView(points, dimension));
    return {tree.order().begin(), tree.order().end()};
}

class ZOrderOfSets : public testing::TestWithParam<Case> {};

TEST_P(ZOrderOfSets, IsThatOfTheTreeOfTheQueries) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const int dimension = GetParam().dimension;
        const std::vector<T> points = point_set<T>(GetParam().set, dimension).coordinates;
        const PointsView view(points, dimension);
        const std::vector<std::int32_t> expected = order_of(points, dimension);
        for (const int threads : {1, 2}) {
            const KnnOptions options{.z_order = true, .execution = cpu(threads)};
            const Tree tree(view, {.shape = {.leaf_size = 3}});
            for (const KnnResult& found : {knn(view, 2, options), knn(tree, 2, options), knn(view, view, 2, options),
                                           knn(tree, view, 2, options)}) {
                EXPECT_TRUE(std::ranges::equal(found.query_indices(), expected));
                EXPECT_EQ(found.engine, Engine::tree);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Neighbors, ZOrderOfSets,
                         testing::ValuesIn(cases_of({"empty", "two", "uniform", "coincident", "lattice", "far_outlier",
                                                     "subnormal"})),
                         case_name);

TEST_F(ZOrder, HoldsForFewQueriesAndWithoutPoints) {
    for (const std::int64_t count : {0, 1, 2, 40}) {
        const std::vector<float> few(queries.begin(), queries.begin() + 3 * count);
        const PointsView view(few, 3);
        const std::vector<std::int32_t> expected = order_of(few, 3);
        for (const Tree& sources : {tree, Tree(PointsView(std::vector<float>(), 3))}) {
            const KnnResult found = knn(sources, view, 3, {.z_order = true});
            EXPECT_TRUE(std::ranges::equal(found.query_indices(), expected));
            EXPECT_TRUE(same_rows(found, rows_of<float>(knn(sources, view, 3))));
        }
    }
}

TEST_F(ZOrder, LeavesOutWhatIsNotWanted) {
    const KnnOptions options{.z_order = true};
    const KnnResult whole = knn(tree, 4, options);
    EXPECT_TRUE(std::ranges::equal(whole.query_indices(), tree.order()));
    std::vector<std::int32_t> indices(500 * 4);
    std::vector<float> distances(500 * 4);
    knn_into({indices, distances}, tree, 4, options);
    EXPECT_TRUE(std::ranges::equal(indices, whole.indices()));
    EXPECT_TRUE(std::ranges::equal(distances, whole.distances<float>()));
    std::vector<std::int32_t> named(500, -7);
    knn_into({std::span<std::int32_t>(), std::span<float>(), named}, tree, 4, options);
    EXPECT_TRUE(std::ranges::equal(named, tree.order()));
    std::vector<std::int64_t> wide(500 * 4);
    knn_into({wide, distances, named}, PointsView(points, 3), 4, options);
    EXPECT_TRUE(std::ranges::equal(wide, whole.indices()));
    EXPECT_TRUE(knn(tree, 4).query_indices().empty());
}

TEST_F(ZOrder, NamesTheFirstUnresolvedQueryInInputOrder) {
    points[3 * 300] = 1e37F;
    const PointsView view(points, 3);
    const KnnResult expected = knn(view, 4, {.engine = Engine::tree});
    EXPECT_GT(expected.unresolved.rows, 0);
    EXPECT_TRUE(same_rows(knn(view, 4, {.z_order = true}), rows_of<float>(expected)));
}

TEST_F(ZOrder, MovesWithItsResult) {
    KnnResult from = knn(tree, 2, {.z_order = true});
    const std::int32_t* const memory = from.query_indices().data();
    KnnResult to = std::move(from);
    EXPECT_EQ(to.query_indices().data(), memory);
    EXPECT_TRUE(from.query_indices().empty()); // NOLINT(bugprone-use-after-move): that is the question
    from = std::move(to);
    EXPECT_EQ(from.query_indices().size(), 500U);
}

TEST_F(ZOrder, IsRefusedWhereThereIsNone) {
    const PointsView view(points, 3);
    for (const Engine engine : {Engine::brute_force, Engine::kdtree, Engine::clover}) {
        const std::vector<std::string> parts{name_of(engine), "in z-order", "use one of: auto, tree"};
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, parts,
                               [&] { (void)knn(view, 3, {.engine = engine, .z_order = true}); }));
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, parts,
                               [&] { (void)knn(Tree(view, {.engine = engine}), 3, {.z_order = true}); }));
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"z_order", "visitor"}, [&] {
        knn_visit([](const NeighborBlock&) { FAIL() << "the visitor was called"; }, view, 3, {.z_order = true});
    }));
}

TEST_F(ZOrder, RefusesMemoryThatDoesNotFit) {
    std::vector<std::int32_t> indices(500 * 2);
    std::vector<float> distances(500 * 2);
    std::vector<std::int32_t> named(501);
    const auto search = [&](std::span<std::int32_t> queries_there, bool z_order) {
        knn_into({indices, distances, queries_there}, tree, 2, {.z_order = z_order});
    };
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices of queries", "501", "500 rows"},
                           [&] { search(named, true); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices of queries", "z_order"},
                           [&] { search(std::span(named).first(500), false); }));
    const std::span askew(reinterpret_cast<std::int32_t*>(reinterpret_cast<std::byte*>(named.data()) + 1), 500);
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"indices of queries", "aligned"}, [&] { search(askew, true); }));
}

} // namespace
} // namespace kith::test
