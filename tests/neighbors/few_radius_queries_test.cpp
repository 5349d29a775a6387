// Few radius queries of a kept tree, which the calling thread searches on its own: trees of every shape, coincident
// points and lattices, rows of every length, and calls from threads and from inside tasks. The conformance suite has
// the rest.
#include "neighbors/few_queries_cases.hpp"
#include "neighbors/radius_conformance.hpp"
#include "support/parallel.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

class FewRadiusQueries : public NeedsDimension<3> {};

/// Rows, counts and what a visitor sees, of which only the latter calls are searched by tasks if there are many.
template <class T>
void expect_rows(const Tree& tree, const PointsView& queries, const std::vector<double>& radii,
                 const oracle::Neighbors<T>& expected, const RadiusOptions& options, const std::string& what) {
    const oracle::RaggedRows<T> truth = expected.within(radii, false, options.squared, options.order);
    const RadiusResult found = radius_search(tree, queries, radii, options);
    EXPECT_EQ(difference(rows_of_result<T>(found), truth), "") << what;
    EXPECT_TRUE(found.stages.empty()) << what;
    EXPECT_EQ(found.engine, Engine::tree);
    EXPECT_EQ(found.box, tree.box());
    CollectedRows<T> seen(queries.count());
    int blocks = 0;
    const SearchSummary summary = radius_visit(
        [&](const RadiusBlock& block) {
            ++blocks;
            seen.add(block.query_indices, block.offsets, block.indices(), block.distances<T>());
        },
        tree, queries, radii, options);
    EXPECT_EQ(difference(seen.rows(), truth), "") << what << ", visited";
    EXPECT_EQ(blocks, 1);
    EXPECT_EQ(summary.box, tree.box());
    const std::vector<std::int64_t> counts = radius_count(tree, queries, radii, options).counts;
    for (std::size_t row = 0; row < counts.size(); ++row) {
        EXPECT_EQ(counts[row], truth.offsets[row + 1] - truth.offsets[row]) << what << ", count of row " << row;
    }
}

template <class T>
void expect_answers_in_trees_of_every_shape() {
    for (const std::vector<T>& points : sets_of_few_queries<T>()) {
        const std::vector<T> queries = few_queries_for(points);
        for (const Box& box : {Box{}, Box::periodic(1), Box::periodic({1.0, 0.0, 2.0})}) {
            const oracle::Neighbors<T> expected(oracle::working_copy<T>(points, 3, box), queries);
            for (const TreeShape& shape : shapes_of_few_queries()) {
                const Tree tree(PointsView(points, 3), {.box = box, .shape = shape});
                for (std::vector<double> radii :
                     {std::vector<double>(18, 0.0), std::vector<double>(18, 0.125), std::vector<double>(18, infinity),
                      std::vector<double>{0, 0.1, 0.2, 0.25, 0.3, 0.5, 1, 3, infinity}}) {
                    radii.resize(18, 0.0625);
                    for (const RowOrder order : {RowOrder::distance, RowOrder::index}) {
                        expect_rows<T>(tree, PointsView(queries, 3), radii, expected,
                                       {.squared = radii[1] == 0.125,
                                        .order = order,
                                        .index_type = radii[1] == 0.1 ? IndexType::int64 : IndexType::int32,
                                        .execution = cpu(1)},
                                       std::to_string(points.size() / 3) + " points, leaves of " +
                                           std::to_string(shape.leaf_size) + ", radius " + std::to_string(radii[1]));
                    }
                }
            }
        }
    }
}

TEST_F(FewRadiusQueries, OfTreesOfEveryShape) {
    expect_answers_in_trees_of_every_shape<float>();
    expect_answers_in_trees_of_every_shape<double>();
}

// On several threads the rows of several queries are found together only while they are short: these are not.
TEST_F(FewRadiusQueries, WithLongRowsAreSharedByThreads) {
    const std::vector<double> points = uniform_points<double>(4000, 3, 0, 1, 41);
    const PointsView queries(points.data(), 3, 3);
    const oracle::Neighbors<double> expected(oracle::working_copy<double>(points, 3),
                                             std::span<const double>(points).first(9));
    const Tree tree(PointsView(points, 3));
    const RadiusResult found = radius_search(tree, queries, 5, {.execution = cpu(2)});
    EXPECT_EQ(difference(rows_of_result<double>(found), expected.within({5, 5, 5}, false, false, RowOrder::distance)),
              "");
    EXPECT_FALSE(found.stages.empty());
    EXPECT_EQ(radius_count(tree, queries, 5, {.execution = cpu(2)}).counts, std::vector<std::int64_t>(3, 4000));
    EXPECT_TRUE(radius_search(tree, queries.subview(0, 1), 5, {.execution = cpu(2)}).stages.empty());
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"4000 neighbors", "48000 bytes", "max_result_bytes is 1000"},
                           [&] { (void)radius_search(tree, queries.subview(0, 1), 5, {.max_result_bytes = 1000}); }));
}

TEST_F(FewRadiusQueries, AreRefusedAsManyAre) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 42);
    const Tree tree(PointsView(points, 3));
    const std::vector<float> bad{0.5F, 0.5F, 0.5F, 0.1F, std::numeric_limits<float>::quiet_NaN(), 0.1F};
    const std::vector<float> far{1e30F, 0, 0};
    const PointsView query(points.data(), 1, 3);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"queries", "point 1", "NaN", "1"},
                           [&] { (void)radius_count(tree, PointsView(bad, 3), 0.1); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 0", "e+30"},
                           [&] { (void)radius_search(tree, PointsView(far, 3), 0.1); }));
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"radius", "1e-40"}, [&] { (void)radius_count(tree, query, 1e-40); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"threads", "-1"},
                           [&] { (void)radius_count(tree, query, 0.1, {.execution = cpu(-1)}); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"clover", "radius"},
                           [&] { (void)radius_count(tree, query, 0.1, {.engine = Engine::clover}); }));
}

TEST_F(FewRadiusQueries, FromManyThreadsFromInsideTasksAndFromVisitors) {
    const std::vector<double> points = uniform_points<double>(sized(4000), 3, 0, 1, 43);
    const std::vector<double> queries = uniform_points<double>(600, 3, -1, 2, 44);
    const Tree tree(PointsView(points, 3), {.box = Box::periodic(1)});
    const std::vector<std::int64_t> expected = radius_count(tree, PointsView(queries, 3), 0.1).counts;
    const auto count = [&](std::int64_t query) {
        std::int64_t found = -1;
        const PointsView one(&queries[3 * static_cast<std::size_t>(query)], 1, 3);
        radius_visit(
            [&](const RadiusBlock& block) {
                EXPECT_EQ(radius_search(tree, one, 0.1).size(), std::ssize(block.indices()));
                found = radius_count(tree, one, 0.1).counts[0];
            },
            tree, one, 0.1);
        return found;
    };
    std::vector<std::vector<std::int64_t>> found(4, std::vector<std::int64_t>(600));
    std::vector<std::thread> callers;
    for (std::vector<std::int64_t>& counts : found) {
        callers.emplace_back([&] {
            detail::parallel_for(0, 600, &counts == &found[0] ? 1 : 600, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t query = first; query < last; ++query) {
                    counts[static_cast<std::size_t>(query)] = count(query);
                }
            });
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    for (const std::vector<std::int64_t>& counts : found) {
        EXPECT_EQ(counts, expected);
    }
}

} // namespace
} // namespace kith::test
