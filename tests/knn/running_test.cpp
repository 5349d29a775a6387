// How calls run: progress is told and can cancel, one tree serves many callers at once, copies share it, and it outlives
// the array it was built from.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

class Running : public NeedsDimension<3> {};

TEST_F(Running, ProgressIsToldInOrder) {
    const std::vector<float> points = uniform_points<float>(5000, 3, 0, 1, 91);
    std::set<std::string> stages;
    std::mutex told;
    const Execution execution = cpu(2, [&](std::string_view stage, double fraction) {
        EXPECT_TRUE(told.try_lock()) << "two calls at once";
        stages.emplace(stage);
        EXPECT_GE(fraction, 0);
        EXPECT_LE(fraction, 1);
        told.unlock();
        return true;
    });
    const KnnResult found = knn(PointsView(points, 3), 8, {}, {.engine = Engine::tree}, execution);
    for (const StageReport& stage : found.stages) {
        EXPECT_TRUE(stages.contains(stage.name)) << stage.name;
    }
}

TEST_F(Running, AnyStageCanBeCancelled) {
    const std::vector<float> points = uniform_points<float>(5000, 3, 0, 1, 92);
    std::vector<std::string> stages;
    for (const StageReport& stage : knn(PointsView(points, 3), 8, {}, {.engine = Engine::tree}).stages) {
        stages.push_back(stage.name);
    }
    ASSERT_FALSE(stages.empty());
    for (const std::string& victim : stages) {
        const Execution execution = cpu(2, [&](std::string_view stage, double) { return stage != victim; });
        EXPECT_TRUE(is_refused(ErrorKind::cancelled, {victim}, [&] {
            (void)knn(PointsView(points, 3), 8, {}, {.engine = Engine::tree}, execution);
        })) << victim;
    }
}

TEST_F(Running, OneTreeServesManyCallersAtOnce) {
    const std::vector<float> points = uniform_points<float>(sized(1500), 3, 0, 1, 93);
    const oracle::Neighbors<float> expected(oracle::working_copy<float>(points, 3, Box::periodic(1)), 20);
    const Tree tree(PointsView(points, 3), Box::periodic(1));
    std::vector<std::optional<KnnResult>> found(6);
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller < found.size(); ++caller) {
        callers.emplace_back([&, caller] {
            const Tree copy = tree;
            found[caller] = knn(copy, static_cast<std::int64_t>(caller + 5),
                                {.engine = caller % 2 == 0 ? Engine::tree : Engine::brute_force}, cpu(2));
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    for (std::size_t caller = 0; caller < found.size(); ++caller) {
        EXPECT_TRUE(same_rows<float>(*found[caller], expected.rows(static_cast<std::int64_t>(caller + 5))));
    }
}

TEST_F(Running, TreesOutliveTheArrayTheyWereBuiltFrom) {
    std::vector<float> points = uniform_points<float>(300, 3, 0, 1, 94);
    const oracle::Rows<float> expected = oracle::Neighbors<float>(oracle::working_copy<float>(points, 3)).rows(5);
    std::optional<Tree> tree(std::in_place, PointsView(points, 3));
    const Tree copy = *tree;
    tree.reset();
    std::fill(points.begin(), points.end(), 0.0F);
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        EXPECT_TRUE(same_rows<float>(knn(copy, 5, {.engine = engine}), expected));
    }
}

} // namespace
} // namespace kith::test
