// An index of every engine in every call that takes one: it answers as the oracle does where the table of engines
// (calls/answers.hpp) has a row, or the call is refused before work, with nothing written.
#include "calls/calls.hpp"
#include "oracle/dbscan.hpp"
#include "oracle/spanning_tree.hpp"
#include "support/cases.hpp"
#include "support/engines.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::Task;
using detail::Where;

constexpr std::int64_t count = 200;
constexpr std::int64_t k = 6;
constexpr double length = 0.12;

/// 200 points in a box, some of them outside it, 40 queries, and what the oracle says of them.
template <class T>
struct Expected {
    std::vector<T> points = uniform_points<T>(count, 3, -0.1, 1.05, 21);
    std::vector<T> queries = uniform_points<T>(40, 3, 0, 1, 22);
    std::vector<T> velocities = uniform_points<T>(count, 3, 0, 1, 23);
    Box box = Tree(PointsView(points, 3), {.box = Box::periodic(1.2)}).box();
    oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, 3, box);
    oracle::Neighbors<T> neighbors{copy};
    oracle::Neighbors<T> neighbors_of_queries{copy, std::span<const T>(queries)};
    oracle::Groups groups = oracle::groups(copy, length);
    oracle::Clusters clusters = oracle::dbscan(copy, length, 4, false);
    std::vector<oracle::TreeEdge<T>> edges = oracle::spanning_tree(copy);

    [[nodiscard]] PointsView view() const { return {points, 3}; }
    [[nodiscard]] PointsView queries_view() const { return {queries, 3}; }
    [[nodiscard]] oracle::RaggedRows<T> within(const oracle::Neighbors<T>& ranked) const {
        return ranked.within(std::vector<double>(static_cast<std::size_t>(ranked.row_count()), length), false, false,
                             RowOrder::distance);
    }
};

/// A call with an index: how it writes to memory of the caller, and whether what it has written, or returned, is right.
struct Call {
    std::string name;
    Task task;
    std::function<bool(const Tree&, Engine, const Execution&, std::atomic<bool>& has_written)> is_right;
};

template <class T>
oracle::Rows<T> empty_rows(std::int64_t rows) {
    const auto size = static_cast<std::size_t>(rows * k);
    return {std::vector<std::int64_t>(size, -7), std::vector<T>(size, -7)};
}

template <class T, class Search>
bool same_rows_written(const oracle::Rows<T>& expected, std::int64_t rows, std::atomic<bool>& has_written,
                       const Search& search) {
    oracle::Rows<T> found = empty_rows<T>(rows);
    const oracle::Rows<T> untouched = found;
    try {
        search(NeighborRows(std::span(found.indices), std::span(found.distances)));
    } catch (const Error&) {
        has_written = found.indices != untouched.indices || found.distances != untouched.distances;
        throw;
    }
    return static_cast<bool>(same_rows(found, expected, k));
}

template <class T>
bool same_edges(const SpanningTree& found, const std::vector<oracle::TreeEdge<T>>& expected) {
    const std::span<const T> weights = found.weights<T>();
    std::size_t i = 0;
    return found.edges().size() == expected.size() && std::ranges::all_of(expected, [&](const auto& edge) {
               const SpanningEdge& other = found.edges()[i];
               return other.smaller == edge.smaller && other.larger == edge.larger && weights[i++] == edge.weight;
           });
}

template <class T>
std::vector<Call> calls_with(const Expected<T>& given) {
    const auto rows = [&given](const RadiusResult& found, const oracle::Neighbors<T>& ranked) {
        const oracle::RaggedRows<T> expected = given.within(ranked);
        return std::ranges::equal(found.offsets(), expected.offsets) &&
               std::ranges::equal(found.indices(), expected.indices) &&
               std::ranges::equal(found.template distances<T>(), expected.distances);
    };
    return {
        {"knn", Task::neighbors,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto& has_written) {
             return same_rows_written<T>(given.neighbors.rows(k), count, has_written, [&](const NeighborRows& memory) {
                 EXPECT_EQ(knn_into(memory, tree, k, {.engine = engine, .execution = execution}).engine, tree.engine());
             });
         }},
        {"knn of queries", Task::neighbors,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto& has_written) {
             return same_rows_written<T>(
                 given.neighbors_of_queries.rows(k), 40, has_written, [&](const NeighborRows& memory) {
                     knn_into(memory, tree, given.queries_view(), k, {.engine = engine, .execution = execution});
                 });
         }},
        {"knn_visit", Task::neighbor_visits,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto& has_written) {
             oracle::Rows<T> found = empty_rows<T>(count);
             knn_visit(
                 [&](const NeighborBlock& block) {
                     has_written = true;
                     for (std::size_t i = 0; i < block.indices().size(); ++i) {
                         const auto row = static_cast<std::size_t>(block.query_indices[i / k]);
                         found.indices[row * k + i % k] = block.indices()[i];
                         found.distances[row * k + i % k] = block.template distances<T>()[i];
                     }
                 },
                 tree, k, {.engine = engine, .execution = execution});
             return static_cast<bool>(same_rows(found, given.neighbors.rows(k), k));
         }},
        {"radius_search", Task::radius,
         [&, rows](const Tree& tree, Engine engine, const Execution& execution, auto&) {
             const RadiusOptions options{.engine = engine, .execution = execution};
             return rows(radius_search(tree, length, options), given.neighbors) &&
                    rows(radius_search(tree, given.queries_view(), length, options), given.neighbors_of_queries);
         }},
        {"radius_count", Task::radius,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto&) {
             const auto counts = radius_count(tree, length, {.engine = engine, .execution = execution}).counts;
             const std::vector<std::int64_t> offsets = given.within(given.neighbors).offsets;
             bool is_same = true;
             for (std::size_t i = 0; i < counts.size(); ++i) {
                 is_same = is_same && counts[i] == offsets[i + 1] - offsets[i];
             }
             return is_same;
         }},
        {"radius_visit", Task::radius,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto& has_written) {
             std::atomic<std::int64_t> found = 0;
             radius_visit(
                 [&](const RadiusBlock& block) {
                     has_written = true;
                     found += std::ssize(block.indices());
                 },
                 tree, length, {.engine = engine, .execution = execution});
             return found == given.within(given.neighbors).offsets.back();
         }},
        {"fof", Task::groups,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto& has_written) {
             std::vector<std::int32_t> labels(count, -7);
             try {
                 fof_into(labels, tree, LinkingLength::absolute(length), {.engine = engine, .execution = execution});
             } catch (const Error&) {
                 has_written = labels != std::vector<std::int32_t>(count, -7);
                 throw;
             }
             return labels == given.groups.labels;
         }},
        {"dbscan", Task::clusters,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto& has_written) {
             std::vector<std::int32_t> labels(count, -7);
             try {
                 dbscan_into(labels, {}, tree, length, 4, {.engine = engine, .execution = execution});
             } catch (const Error&) {
                 has_written = labels != std::vector<std::int32_t>(count, -7);
                 throw;
             }
             return labels == given.clusters.labels;
         }},
        {"spanning_tree", Task::spanning_tree,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto&) {
             return same_edges<T>(spanning_tree(tree, {.engine = engine, .execution = execution}), given.edges);
         }},
        {"hierarchy", Task::spanning_tree,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto&) {
             return same_edges<T>(hierarchy(tree, {.engine = engine, .execution = execution}).spanning_tree(),
                                  given.edges);
         }},
        {"hdbscan", Task::density_clusters,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto&) {
             const HdbscanResult found = hdbscan(tree, 5, {.min_samples = 4, .engine = engine, .execution = execution});
             std::vector<std::int32_t> star = given.clusters.labels;
             for (std::size_t i = 0; i < star.size(); ++i) {
                 star[i] = given.clusters.is_core[i] != 0 ? star[i] : -1;
             }
             return found.cut(length) == star;
         }},
        {"fof_ladder", Task::spanning_tree,
         [&](const Tree& tree, Engine engine, const Execution& execution, auto&) {
             const std::vector<LinkingLength> lengths{LinkingLength::absolute(length)};
             return std::ranges::equal(fof_ladder(tree, lengths, {.engine = engine, .execution = execution}).labels(0),
                                       given.groups.labels);
         }},
    };
}

using Indices = NeedsDimension<3>;

template <class T>
void expect_answers_or_refusals() {
    const Expected<T> given;
    std::vector<TreeOptions> kept;
    for (const Engine engine : engines_of(Task::index)) {
        kept.push_back({.box = given.box, .engine = engine});
    }
    kept.push_back({.box = given.box, .engine = Engine::clover, .clover = {.form = CloverForm::flat, .hubs = 15}});
    for (const TreeOptions& options : kept) {
        const Tree tree(given.view(), options);
        EXPECT_EQ(tree.engine(), options.engine == Engine::automatic ? Engine::tree : options.engine);
        EXPECT_EQ(tree.size(), count);
        EXPECT_EQ(tree.box(), given.box);
        for (const Call& call : calls_with(given)) {
            for (std::size_t number = 0; number < engine_names.size(); ++number) {
                const auto wanted = static_cast<Engine>(number);
                SCOPED_TRACE(call.name + " by '" + name_of(wanted) + "' of an index of '" + name_of(tree.engine()) +
                             "'");
                const bool is_other = wanted != Engine::automatic && wanted != tree.engine();
                int steps = 0;
                std::atomic<bool> has_written = false;
                const Execution execution = cpu(2, [&](std::string_view, double) { return ++steps > 0; });
                try {
                    EXPECT_TRUE(call.is_right(tree, wanted, execution, has_written));
                    EXPECT_TRUE(detail::answers(tree.engine(), call.task, Where::cpu) && !is_other);
                } catch (const Error& error) {
                    const bool wants_what_is_there = detail::answers(wanted, call.task, Where::cpu);
                    EXPECT_TRUE(is_other || !detail::answers(tree.engine(), call.task, Where::cpu)) << error.what();
                    EXPECT_TRUE(has_parts(
                        error, is_other && wants_what_is_there ? ErrorKind::invalid_argument : ErrorKind::unsupported,
                        {"'" + name_of(wants_what_is_there ? tree.engine() : wanted) + "'",
                         is_other ? "'" + name_of(wanted) + "'" : ""}));
                    EXPECT_FALSE(has_written);
                    EXPECT_EQ(steps, 0);
                }
            }
        }
    }
}

TEST_F(Indices, OfEveryEngineAnswerEveryCallOrRefuseIt) {
    expect_answers_or_refusals<float>();
    expect_answers_or_refusals<double>();
}

TEST_F(Indices, OfOtherEnginesHaveNoPlanes) {
    const std::vector<float> points = uniform_points<float>(50, 3, 0, 1, 24);
    for (const std::int64_t size : {0, 50}) {
        for (const Engine engine : {Engine::brute_force, Engine::kdtree, Engine::clover}) {
            const Tree tree(PointsView(points.data(), size, 3), {.engine = engine});
            const auto refused = [&](const auto& call) {
                EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"'" + name_of(engine) + "'", "no planes"}, call));
            };
            refused([&] { (void)tree.order(); });
            refused([&] { (void)tree.plane_count(); });
            refused([&] { (void)tree.plane(0); });
            refused([&] { (void)tree.sorted_points<float>(); });
            refused([&] { (void)tree.node_boxes<float>(0); });
            EXPECT_EQ(tree.points<float>(), std::vector<float>(points.begin(), points.begin() + 3 * size));
            EXPECT_EQ(tree.stages().empty(), false);
        }
    }
}

TEST_F(Indices, GiveTheirPointsInTheOrderGiven) {
    const std::vector<double> points = uniform_points<double>(300, 3, -1, 2, 25);
    const Box box = Box::periodic({4, 0, 5});
    const std::vector<double> expected = Tree(PointsView(points, 3), {.box = box}).points<double>();
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(std::remainder(points[i] - expected[i], i % 3 == 0 ? 4 : 5), 0, 1e-15) << i;
    }
    for (const Engine engine : engines_of(Task::index)) {
        EXPECT_EQ(Tree(PointsView(points, 3), {.box = box, .engine = engine}).points<double>(), expected);
    }
    const CloverOptions flat{.form = CloverForm::flat, .hubs = 40};
    EXPECT_EQ(Tree(PointsView(points, 3), {.box = box, .engine = Engine::clover, .clover = flat}).points<double>(),
              expected);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float64", "float32"},
                           [&] { (void)Tree(PointsView(points, 3), {.engine = Engine::kdtree}).points<float>(); }));
}

TEST_F(Indices, RefuseOptionsThatMeanNothing) {
    const std::vector<float> points = uniform_points<float>(50, 3, 0, 1, 26);
    const auto refused = [&](const TreeOptions& options, ErrorKind kind, const std::vector<std::string>& parts) {
        int steps = 0;
        TreeOptions watched = options;
        watched.execution.progress = [&](std::string_view, double) { return ++steps > 0; };
        EXPECT_TRUE(is_refused(kind, parts, [&] { (void)Tree(PointsView(points, 3), watched); }));
        EXPECT_EQ(steps, 0);
    };
    constexpr auto invalid = ErrorKind::invalid_argument;
    refused({.engine = Engine::kdtree, .shape = {.leaf_size = 10}}, invalid, {"shape", "'kdtree'"});
    refused({.engine = Engine::kdtree, .shape = {.leaf_size = 0}}, invalid, {"leaf_size is 0"});
    refused({.engine = Engine::kdtree, .kdtree = {.leaf_size = -1}}, invalid, {"leaf_size is -1"});
    refused({.kdtree = {.leaf_size = 40}}, invalid, {"'kdtree'", "'tree'"});
    refused({.engine = Engine::brute_force, .clover = {.seed = 1}}, invalid, {"'clover'", "'brute'"});
    refused({.clover = {.form = CloverForm::flat}}, invalid, {"'clover'", "'tree'"});
    refused({.engine = Engine::clover, .clover = {.hubs = 10}}, invalid, {"hubs", "flat form"});
    refused({.engine = Engine::clover, .clover = {.hub_selection = HubSelection::kmeans_plus_plus}}, invalid,
            {"hubs", "flat form"});
    refused({.engine = Engine::clover, .clover = {.form = CloverForm::flat, .hubs = 0}}, invalid, {"hubs is 0"});
    refused({.engine = Engine::brute_force, .execution = cuda()}, ErrorKind::unsupported,
            {"'brute'", "a kept index on a GPU", "use one of: auto, tree, kdtree, clover", "run on the CPU"});
}

// As the published program: its rows are those of every other engine.
TEST_F(Indices, OfFlatCloverTakeEveryNumberOfHubs) {
    const std::vector<float> points = uniform_points<float>(500, 3, 0, 1, 27);
    const oracle::Rows<float> expected = oracle::Neighbors<float>(oracle::working_copy<float>(points, 3)).rows(k);
    for (const std::int64_t hubs : {1, 40, 500, 1000}) {
        for (const HubSelection selection : {HubSelection::random, HubSelection::kmeans_plus_plus}) {
            for (const std::uint64_t seed : {std::uint64_t{0}, ~std::uint64_t{0}}) {
                const CloverOptions clover{
                    .form = CloverForm::flat, .hubs = hubs, .hub_selection = selection, .seed = seed};
                const Tree tree(PointsView(points, 3), {.engine = Engine::clover, .clover = clover});
                EXPECT_TRUE(same_rows<float>(knn(tree, k), expected)) << hubs;
            }
        }
    }
}

} // namespace
} // namespace kith::test
