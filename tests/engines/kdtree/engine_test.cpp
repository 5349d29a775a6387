// Engine::kdtree beyond the conformance suites: sets that break k-d trees, large ones against the plane tree, and the
// calls that it does not answer.
#include "calls/choose.hpp"
#include "engines/kdtree/bucket_tree.hpp"
#include "engines/positions_on_earth.hpp"
#include "support/cases.hpp"
#include "support/point_sets.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using kdtree::Node;

TEST(BucketTrees, NumberTheirLeavesAlongThePoints) {
    for (std::int64_t leaves = 1; leaves < 70; ++leaves) {
        std::int64_t next = 0;
        const auto visit = [&](const auto& self, Node node) -> void {
            if (node >= leaves - 1) {
                EXPECT_EQ(detail::leaf_number(node, leaves), next++) << leaves << " leaves";
                return;
            }
            self(self, kdtree::left_child(node));
            self(self, kdtree::right_child(node));
        };
        visit(visit, 0);
        EXPECT_EQ(next, leaves);
    }
}

template <class T>
void expect_the_plane_tree_s_rows(const PointsView& points, std::int64_t k, const Box& box, int threads) {
    const Execution execution = cpu(threads);
    const KnnResult expected = knn(points, k, {.box = box, .engine = Engine::tree, .execution = execution});
    const KnnResult found = knn(points, k, {.box = box, .engine = Engine::kdtree, .execution = execution});
    EXPECT_EQ(found.engine, Engine::kdtree);
    EXPECT_TRUE(same_rows<T>(found, rows_of<T>(expected)));
    const double radius = 1.5 * static_cast<double>(expected.template distances<T>()[k - 1]);
    const auto radii = [&](Engine engine) {
        return radius_count(points, radius, {.box = box, .engine = engine, .execution = execution}).counts;
    };
    EXPECT_EQ(radii(Engine::kdtree), radii(Engine::tree));
}

class KdTreeEngine : public NeedsDimension<3> {};
class KdTreeEngineInThePlane : public NeedsDimension<2> {};

// Ranges so large that all threads part them, on one thread and on three.
TEST_F(KdTreeEngine, OfManyPoints) {
    const std::vector<float> points = uniform_points<float>((1 << 17) + 1000, 3, 0, 1, 11);
    for (const int threads : {1, 3}) {
        expect_the_plane_tree_s_rows<float>(PointsView(points, 3), 4, Box::periodic(1), threads);
    }
}

// Tracks of positions on Earth, to a millionth of a degree: a third of the points coincide with another, and a tenth of
// all coordinates do.
TEST_F(KdTreeEngineInThePlane, OfQuantizedPositions) {
    const std::vector<double> positions = positions_on_earth<double>(10'000, 12);
    const PointsView view(positions, 2);
    const KnnResult expected = knn(view, 10, {.engine = Engine::brute_force});
    EXPECT_TRUE(same_rows<double>(knn(view, 10, {.engine = Engine::kdtree}), rows_of<double>(expected)));
    expect_the_plane_tree_s_rows<double>(view, 40, Box{}, 2);
}

// Comparing the points of the run would take 10^10 distances.
TEST_F(KdTreeEngine, OfAHundredThousandCoincidentPoints) {
    constexpr std::int64_t count = 100000;
    constexpr std::int64_t k = 20;
    const std::vector<float> points(3 * count, 0.25F);
    const PointsView view(points, 3);
    const KnnResult found = knn(view, k, {.engine = Engine::kdtree});
    std::vector<std::int32_t> first(k);
    std::iota(first.begin(), first.end(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_TRUE(std::equal(first.begin(), first.end(), found.indices().begin() + i * k)) << i;
    }
    EXPECT_EQ(radius_count(view, 0, {.engine = Engine::kdtree}).counts, std::vector<std::int64_t>(count, count));
    const std::vector<float> beside = uniform_points<float>(20'000, 3, 0, 1, 3);
    const KnnResult of_queries = knn(view, PointsView(beside, 3), k, {.engine = Engine::kdtree});
    for (std::int64_t i = 0; i < of_queries.rows(); ++i) {
        ASSERT_TRUE(std::equal(first.begin(), first.end(), of_queries.indices().begin() + i * k)) << i;
    }
}

// Where the rounding of L - t could break a bound: neighbors are images across the faces.
TEST_F(KdTreeEngine, OfPointsAtOppositeFaces) {
    Random random(13);
    const auto expect_rows = [&]<class T>(T) {
        for (const double length : {1.0, 3.7e-5}) {
            std::vector<T> points;
            for (int i = 0; i < 3 * 700; ++i) {
                const double depth = 1e-6 * random.uniform(0, 1);
                const bool inside = random.integer(4) == 0;
                points.push_back(static_cast<T>(length * (inside                   ? random.uniform(0, 1)
                                                          : random.integer(2) == 0 ? depth
                                                                                   : 1 - depth)));
            }
            const Box box = Box::periodic(length);
            const oracle::Neighbors<T> expected(oracle::working_copy<T>(points, 3, box));
            for (const std::int64_t k : {1, 6, 50}) {
                EXPECT_TRUE(same_rows<T>(knn(PointsView(points, 3), k, {.box = box, .engine = Engine::kdtree}),
                                         expected.rows(k)));
            }
        }
    };
    expect_rows(float{});
    expect_rows(double{});
}

TEST_F(KdTreeEngine, ReportsItsStagesAndCanBeCanceled) {
    const std::vector<float> points = uniform_points<float>(3000, 3, 0, 1, 14);
    const PointsView view(points, 3);
    const KnnResult found = knn(view, 4, {.engine = Engine::kdtree, .execution = cpu(1)});
    std::vector<std::string> names;
    for (const StageReport& stage : found.stages) {
        names.emplace_back(stage.name);
        EXPECT_GE(stage.peak_bytes, 3000 * 16);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"tree", "search"}));
    EXPECT_LT(found.stages.front().peak_bytes, 3000 * 34 + 4096); // the copy, a record each, planes
    for (const std::string& victim : names) {
        const auto stop = [&](std::string_view stage, double) { return stage != victim; };
        EXPECT_TRUE(is_refused(ErrorKind::canceled, {victim},
                               [&] { (void)knn(view, 4, {.engine = Engine::kdtree, .execution = cpu(1, stop)}); }));
    }
}

TEST_F(KdTreeEngine, RefusesCallsThatItDoesNotAnswer) {
    const std::vector<float> points = uniform_points<float>(50, 3, 0, 1, 15);
    const PointsView view(points, 3);
    const auto refused = [](const char* what, const auto& call) {
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"'kdtree'", what, "auto, tree, brute"}, call));
    };
    refused("DBSCAN", [&] { (void)dbscan(view, 1, 5, {.engine = Engine::kdtree}); });
    refused("the spanning tree", [&] { (void)spanning_tree(Tree(view), {.engine = Engine::kdtree}); });
    refused("friends-of-friends on a GPU, asynchronously",
            [&] { detail::check_engine(Engine::kdtree, detail::Task::groups, detail::Where::stream); });
    const auto on_gpu = [](Engine kept) {
        return detail::choose(detail::Task::neighbors, Engine::kdtree, {50, 50, false, 3, kept, detail::Where::gpu});
    };
    EXPECT_EQ(on_gpu(Engine::automatic), Engine::kdtree);
    EXPECT_EQ(on_gpu(Engine::tree), Engine::tree); // that index is all that there is
}

TEST(EngineNames, NameEveryEngine) {
    for (const Engine engine : {Engine::automatic, Engine::tree, Engine::brute_force, Engine::kdtree, Engine::clover}) {
        EXPECT_EQ(engine_named(name_of(engine)), engine);
    }
    EXPECT_FALSE(engine_named("magic"));
}

} // namespace
} // namespace kith::test
