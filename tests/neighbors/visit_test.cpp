// Visitors receive every row exactly once, with the numbers that owned rows hold.
//
// The use they are made for is checked as such: the density from the distance of the k-th neighbor, reduced on the fly
// and read from full rows, is the same.
#include "support/cases.hpp"
#include "support/parallel.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

class Visit : public testing::TestWithParam<Case> {};

// What a visitor saw, put back into the order of the queries.
template <class T>
struct Collected {
    Collected(std::int64_t queries, std::int64_t row_length)
        : k(row_length), seen(static_cast<std::size_t>(queries), 0), position(static_cast<std::size_t>(queries), -1) {
        rows.indices.resize(static_cast<std::size_t>(queries * k), -7);
        rows.distances.resize(static_cast<std::size_t>(queries * k), -7);
    }
    void add(const NeighborBlock& block) {
        const std::scoped_lock lock(adding);
        EXPECT_EQ(block.k, k);
        EXPECT_EQ(block.indices().size(), block.query_indices.size() * static_cast<std::size_t>(k));
        for (std::size_t row = 0; row < block.query_indices.size(); ++row) {
            const auto query = static_cast<std::size_t>(block.query_indices[row]);
            ++seen.at(query);
            position[query] = block.first + static_cast<std::int64_t>(row);
            for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
                const std::size_t from = row * static_cast<std::size_t>(k) + i;
                const std::size_t to = query * static_cast<std::size_t>(k) + i;
                rows.indices[to] = block.indices()[from];
                rows.distances[to] = block.template distances<T>()[from];
            }
        }
    }
    std::int64_t k;
    std::vector<int> seen;
    std::vector<std::int64_t> position;
    oracle::Rows<T> rows;
    std::mutex adding;
};

class VisitThreads : public NeedsDimension<3> {};

// While the visitor waits for its own loop, its thread must not search another leaf in the memory that holds the block.
TEST_F(VisitThreads, MayRunParallelLoops) {
    const std::vector<float> points = uniform_points<float>(12000, 3, 0, 1, 5);
    const Tree tree(PointsView(points, 3), {.execution = cpu(2)});
    std::atomic<int> changed = 0;
    const auto visit = [&](const NeighborBlock& block) {
        const std::vector<std::int32_t> before(block.indices().begin(), block.indices().end());
        detail::parallel_for(0, 8, 1, [](std::int64_t, std::int64_t) {
            std::this_thread::sleep_for(std::chrono::microseconds(200)); // so that other threads take some of them
        });
        changed += std::equal(before.begin(), before.end(), block.indices().begin()) ? 0 : 1;
    };
    knn_visit(visit, tree, 8, {.execution = cpu(4)});
    EXPECT_EQ(changed, 0);
}

TEST_P(Visit, SeesEveryRowOnce) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const oracle::Neighbors<T> expected(copy, 20);
            const std::vector<T> queries = queries_for(set, named.box, 70);
            const oracle::Neighbors<T> expected_of_queries(copy, queries);
            for (const Engine engine : knn_engines()) {
                const Tree tree(set.view(), {.box = named.box, .engine = engine});
                const KnnOptions options{.exclude_self = true, .engine = engine, .execution = cpu(3)};
                Collected<T> self(set.count(), 12);
                knn_visit([&](const NeighborBlock& block) { self.add(block); }, tree, 12, options);
                EXPECT_EQ(self.seen, std::vector<int>(self.seen.size(), 1));
                EXPECT_TRUE(same_rows<T>(self.rows, expected.rows(12, options), 12))
                    << named.name << ", " << name_of(engine);
                for (std::size_t i = 0; engine == Engine::tree && i < self.position.size(); ++i) {
                    EXPECT_EQ(tree.order()[static_cast<std::size_t>(self.position[i])], static_cast<std::int32_t>(i));
                }

                Collected<T> separate(70, 3);
                knn_visit([&](const NeighborBlock& block) { separate.add(block); }, tree,
                          PointsView(queries, set.dimension), 3,
                          {.squared = true, .engine = engine, .execution = cpu(3)});
                EXPECT_EQ(separate.seen, std::vector<int>(70, 1));
                EXPECT_TRUE(same_rows<T>(separate.rows, expected_of_queries.rows(3, {.squared = true}), 3))
                    << named.name << ", separate queries, " << name_of(engine);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, Visit,
                         testing::ValuesIn(cases_of({"empty", "one", "two", "uniform", "clustered", "lattice",
                                                     "coincident", "far_outlier"})),
                         case_name);

class Visitors : public NeedsDimension<3> {};

TEST_F(Visitors, DensityEqualsTheOneFromFullRows) {
    constexpr std::int64_t k = 16;
    const std::int64_t count = sized(4000);
    const std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 51);
    const Tree tree(PointsView(points, 3), {.box = Box::periodic(1)});
    const auto density = [](float radius) { return 3 * k / (4 * 3.14159265F * radius * radius * radius); };

    std::vector<float> reduced(static_cast<std::size_t>(count), -1);
    knn_visit(
        [&](const NeighborBlock& block) {
            for (std::size_t row = 0; row < block.query_indices.size(); ++row) {
                reduced[static_cast<std::size_t>(block.query_indices[row])] =
                    density(block.distances<float>()[row * k + k - 1]);
            }
        },
        tree, k);

    const KnnResult full = knn(tree, k);
    for (std::size_t i = 0; i < reduced.size(); ++i) {
        EXPECT_EQ(reduced[i], density(full.distances<float>()[i * k + k - 1])) << "point " << i;
    }
}

TEST_F(Visitors, NeedNoTree) {
    const std::vector<float> points = uniform_points<float>(sized(3000), 3, 0, 1, 54);
    const std::vector<float> queries = uniform_points<float>(200, 3, -1, 2, 55);
    const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, Box::periodic(1));
    const oracle::Rows<float> expected = oracle::Neighbors<float>(copy, 5).rows(5);
    const oracle::Rows<float> expected_of_queries = oracle::Neighbors<float>(copy, queries).rows(5);
    const PointsView view(points, 3);
    for (const Engine engine : knn_engines()) {
        const KnnOptions options{.box = Box::periodic(1), .engine = engine, .execution = cpu(3)};
        Collected<float> self(view.count(), 5);
        knn_visit([&](const NeighborBlock& block) { self.add(block); }, view, 5, options);
        EXPECT_EQ(self.seen, std::vector<int>(self.seen.size(), 1));
        EXPECT_TRUE(same_rows<float>(self.rows, expected, 5)) << name_of(engine);
        Collected<float> separate(200, 5);
        knn_visit([&](const NeighborBlock& block) { separate.add(block); }, view, PointsView(queries, 3), 5, options);
        EXPECT_EQ(separate.seen, std::vector<int>(200, 1));
        EXPECT_TRUE(same_rows<float>(separate.rows, expected_of_queries, 5)) << name_of(engine);
    }
}

TEST_F(Visitors, DistancesOfTheOtherTypeAreRefused) {
    const std::vector<float> points = uniform_points<float>(50, 3, 0, 1, 53);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"the distances are float32"}, [&] {
        knn_visit([](const NeighborBlock& block) { (void)block.distances<double>(); }, Tree(PointsView(points, 3)), 4);
    }));
}

TEST_F(Visitors, AnExceptionOfTheVisitorReachesTheCaller) {
    const std::vector<float> points = uniform_points<float>(500, 3, 0, 1, 52);
    for (const Engine engine : knn_engines()) {
        const Tree tree(PointsView(points, 3), {.engine = engine});
        EXPECT_THROW(knn_visit([](const NeighborBlock&) { throw std::domain_error("enough"); }, tree, 4,
                               {.engine = engine, .execution = cpu(2)}),
                     std::domain_error);
        EXPECT_EQ(knn(tree, 4).rows(), 500); // and the index is as good as before
    }
}

} // namespace
} // namespace kith::test
