// Few queries of a kept tree, which the calling thread searches on its own: trees of every shape, coincident points and
// lattices, the options of a call, and calls from threads and from inside tasks. The conformance suite has the rest.
#include "calls/choose.hpp"
#include "neighbors/few_queries_cases.hpp"
#include "support/cases.hpp"
#include "support/parallel.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

class FewQueries : public NeedsDimension<3> {};

template <class T>
oracle::Rows<T> row_of(const oracle::Rows<T>& rows, std::int64_t row, std::int64_t k) {
    return {{rows.indices.begin() + row * k, rows.indices.begin() + (row + 1) * k},
            {rows.distances.begin() + row * k, rows.distances.begin() + (row + 1) * k}};
}

template <class T>
void expect_answers_in_trees_of_every_shape() {
    for (const std::vector<T>& points : sets_of_few_queries<T>()) {
        const std::vector<T> queries = few_queries_for(points);
        const PointsView view(queries, 3);
        for (const Box& box : {Box{}, Box::periodic(1), Box::periodic({1.0, 0.0, 2.0})}) {
            const oracle::Neighbors<T> expected(oracle::working_copy<T>(points, 3, box), queries);
            for (const TreeShape& shape : shapes_of_few_queries()) {
                const Tree tree(PointsView(points, 3), {.box = box, .shape = shape});
                const auto what = [&](std::int64_t k) {
                    return std::to_string(points.size() / 3) + " points, leaves of " + std::to_string(shape.leaf_size) +
                           ", k " + std::to_string(k);
                };
                for (const std::int64_t k : {1, 8, 29, 64}) {
                    EXPECT_TRUE(same_rows<T>(knn(tree, view, k, {.execution = cpu(1)}), expected.rows(k))) << what(k);
                }
                // Candidates of a longer row are not kept in order, and only single queries have such rows.
                for (const std::int64_t k : {128, 129, 500, 5000}) {
                    const oracle::Rows<T> rows = expected.rows(k);
                    for (const std::int64_t query : {0, 12, 17}) {
                        const KnnResult found = knn(tree, view.subview(query, 1), k);
                        EXPECT_TRUE(same_rows<T>(found, row_of(rows, query, k))) << what(k) << ", query " << query;
                        EXPECT_TRUE(found.stages.empty());
                    }
                }
            }
        }
    }
}

TEST_F(FewQueries, OfTreesOfEveryShape) {
    expect_answers_in_trees_of_every_shape<float>();
    expect_answers_in_trees_of_every_shape<double>();
}

TEST_F(FewQueries, TakeTheOptionsOfTheCall) {
    const std::vector<double> points = lattice_of_triples<double>();
    const std::vector<double> queries{0.5, 0.5, 0.5, 0.3, 0.3, 0.3};
    const oracle::Neighbors<double> expected(oracle::working_copy<double>(points, 3), queries);
    const Tree tree(PointsView(points, 3));
    for (const double most : {0.0, 0.125, 0.2, std::numeric_limits<double>::infinity()}) {
        for (const bool squared : {false, true}) {
            for (const IndexType type : {IndexType::int32, IndexType::int64}) {
                const KnnOptions options{.max_distance = most, .squared = squared, .index_type = type};
                const KnnResult found = knn(tree, PointsView(queries, 3), 30, options);
                EXPECT_TRUE(same_rows<double>(found, expected.rows(30, options))) << "within " << most;
                EXPECT_EQ(found.engine, Engine::tree);
                EXPECT_TRUE(found.stages.empty());
            }
        }
    }
}

TEST_F(FewQueries, TellTheirProgressAndCanBeCanceled) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 39);
    const Tree tree(PointsView(points, 3));
    const PointsView query(points.data(), 1, 3);
    const KnnResult expected = knn(tree, query, 5);
    for (const double last : {2.0, 1.0, 0.0}) {
        std::vector<double> fractions;
        const Execution execution = cpu(1, [&](std::string_view stage, double fraction) {
            EXPECT_EQ(stage, "search");
            fractions.push_back(fraction);
            return fraction < last;
        });
        if (last > 1) {
            EXPECT_TRUE(same_rows<float>(knn(tree, query, 5, {.execution = execution}), rows_of<float>(expected)));
            EXPECT_EQ(radius_count(tree, query, 0.1, {.execution = execution}).counts,
                      radius_count(tree, query, 0.1).counts);
            EXPECT_EQ(fractions, (std::vector<double>{0, 1, 0, 1}));
        } else {
            const auto is_canceled = [&](const auto& call) {
                return is_refused(ErrorKind::canceled, {"search"}, call);
            };
            EXPECT_TRUE(is_canceled([&] { (void)knn(tree, query, 5, {.execution = execution}); }));
            EXPECT_TRUE(is_canceled([&] { (void)radius_search(tree, query, 0.1, {.execution = execution}); }));
        }
    }
}

TEST_F(FewQueries, WriteTheArraysThatAreWanted) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 34);
    const std::vector<float> columns{0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}; // two queries, axis after axis
    const PointsView queries(columns.data(), DType::float32, 2, 3, 1, 2);
    const std::vector<float> rows{0.1F, 0.3F, 0.5F, 0.2F, 0.4F, 0.6F};
    const oracle::Rows<float> expected =
        oracle::Neighbors<float>(oracle::working_copy<float>(points, 3), std::span<const float>(rows)).rows(5);
    const Tree tree(PointsView(points, 3));
    std::vector<std::int64_t> indices(10);
    std::vector<float> distances(10);
    knn_into({std::span(indices), std::span<float>()}, tree, queries, 5);
    EXPECT_EQ(indices, expected.indices);
    knn_into({std::span<std::int32_t>(), std::span(distances)}, tree, queries, 5);
    EXPECT_EQ(distances, expected.distances);
    const PointsView query = queries.subview(0, 1);
    const KnnResult many = knn(tree, query, 400);
    std::vector<std::int64_t> many_indices(400);
    std::vector<float> many_distances(400);
    knn_into({std::span(many_indices), std::span<float>()}, tree, query, 400);
    EXPECT_EQ(many_indices, rows_of<float>(many).indices);
    knn_into({std::span<std::int32_t>(), std::span(many_distances)}, tree, query, 400);
    EXPECT_EQ(many_distances, rows_of<float>(many).distances);
}

TEST_F(FewQueries, LeaveTheRowsOfARefusedCallUntouched) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 35);
    std::vector<float> queries = uniform_points<float>(4, 3, 0, 1, 36);
    queries[3 * 2 + 1] = std::numeric_limits<float>::quiet_NaN();
    const Tree tree(PointsView(points, 3));
    std::vector<std::int32_t> indices(8, -7);
    std::vector<float> distances(8, -7);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"queries", "point 2", "NaN", "1"}, [&] {
        knn_into({std::span(indices), std::span(distances)}, tree, PointsView(queries, 3), 2);
    }));
    EXPECT_EQ(indices, std::vector<std::int32_t>(8, -7));
    EXPECT_EQ(distances, std::vector<float>(8, -7));
}

TEST_F(FewQueries, FromManyThreadsAndFromInsideTasks) {
    const std::vector<double> points = uniform_points<double>(sized(4000), 3, 0, 1, 37);
    const std::vector<double> queries = uniform_points<double>(600, 3, -1, 2, 38);
    const Tree tree(PointsView(points, 3), {.box = Box::periodic(1)});
    const oracle::Rows<double> expected =
        oracle::Neighbors<double>(oracle::working_copy<double>(points, 3, Box::periodic(1)),
                                  std::span<const double>(queries))
            .rows(8);
    const auto search = [&](oracle::Rows<double>& rows, std::size_t query) {
        knn_into({std::span(rows.indices).subspan(8 * query, 8), std::span(rows.distances).subspan(8 * query, 8)}, tree,
                 PointsView(&queries[3 * query], 1, 3), 8);
    };
    std::vector<oracle::Rows<double>> found(4, {std::vector<std::int64_t>(4800), std::vector<double>(4800)});
    std::vector<std::thread> callers;
    for (oracle::Rows<double>& rows : found) {
        callers.emplace_back([&] {
            if (&rows == &found[0]) {
                detail::parallel_for(0, 600, 1, [&](std::int64_t first, std::int64_t last) {
                    for (std::int64_t query = first; query < last; ++query) {
                        search(rows, static_cast<std::size_t>(query));
                    }
                });
                return;
            }
            for (std::size_t query = 0; query < 600; ++query) {
                search(rows, query);
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    for (const oracle::Rows<double>& rows : found) {
        EXPECT_TRUE(same_rows<double>(rows, expected, 8));
    }
}

// For few separate queries no tree is built; the more neighbors they want, the fewer they are. Any k is small enough
// for the rule.
TEST(Engines, AreChosenByQueriesAndNeighbors) {
    const auto chosen = [](std::int64_t points, std::int64_t queries, std::int64_t k) {
        return detail::choose(detail::Task::neighbors, Engine::automatic, {points, queries, true, k});
    };
    EXPECT_EQ(chosen(100'000, 120, 8), Engine::brute_force);
    EXPECT_EQ(chosen(100'000, 129, 1), Engine::tree);
    EXPECT_EQ(chosen(10'000, 30, 64), Engine::brute_force);
    EXPECT_EQ(chosen(10'000, 60, 64), Engine::tree);
    EXPECT_EQ(chosen(1'000, 16, 64), Engine::tree);
    EXPECT_EQ(chosen(1'000, 16, 16), Engine::brute_force);
    EXPECT_EQ(chosen(30, 100, 64), Engine::brute_force);
    EXPECT_EQ(chosen(std::int64_t{1} << 31, 100, std::numeric_limits<std::int64_t>::max()), Engine::tree);
    EXPECT_EQ(detail::choose(detail::Task::radius, Engine::automatic, {1000, 128, true}), Engine::brute_force);
}

} // namespace
} // namespace kith::test
