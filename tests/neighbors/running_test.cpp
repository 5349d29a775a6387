// How calls run: progress is told and can cancel, one index serves many callers at once, copies share it, it outlives
// the array it was built from, and calls leave no memory behind.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>
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
    const KnnResult found = knn(PointsView(points, 3), 8, {.engine = Engine::tree, .execution = execution});
    for (const StageReport& stage : found.stages) {
        EXPECT_TRUE(stages.contains(stage.name)) << stage.name;
    }
}

TEST_F(Running, AnyStageCanBeCanceled) {
    const std::vector<float> points = uniform_points<float>(5000, 3, 0, 1, 92);
    std::vector<std::string> stages;
    for (const StageReport& stage : knn(PointsView(points, 3), 8, {.engine = Engine::tree}).stages) {
        stages.push_back(stage.name);
    }
    ASSERT_FALSE(stages.empty());
    for (const std::string& victim : stages) {
        const Execution execution = cpu(2, [&](std::string_view stage, double) { return stage != victim; });
        EXPECT_TRUE(is_refused(ErrorKind::canceled, {victim}, [&] {
            (void)knn(PointsView(points, 3), 8, {.engine = Engine::tree, .execution = execution});
        })) << victim;
    }
}

// Some callers search for the points themselves, others for separate queries.
TEST_F(Running, OneIndexServesManyCallersAtOnce) {
    const std::vector<float> points = uniform_points<float>(sized(1500), 3, 0, 1, 93);
    const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, Box::periodic(1));
    const std::vector<float> queries = uniform_points<float>(100, 3, 0, 1, 96);
    const oracle::Neighbors<float> expected(copy, 20);
    const oracle::Neighbors<float> expected_of_queries(copy, std::span<const float>(queries));
    std::vector<TreeOptions> indices;
    for (const Engine engine : knn_engines()) {
        indices.push_back({.box = Box::periodic(1), .engine = engine});
    }
    indices.push_back(
        {.box = Box::periodic(1), .engine = Engine::clover, .clover = {.form = CloverForm::flat, .hubs = 20}});
    for (const TreeOptions& options : indices) {
        const Tree tree(PointsView(points, 3), options);
        std::vector<std::optional<KnnResult>> found(6);
        std::vector<std::thread> callers;
        for (std::size_t caller = 0; caller < found.size(); ++caller) {
            callers.emplace_back([&, caller] {
                const Tree copy_of_tree = tree;
                const auto k = static_cast<std::int64_t>(caller + 5);
                found[caller] = caller % 2 == 0 ? knn(copy_of_tree, k, {.execution = cpu(2)})
                                                : knn(copy_of_tree, PointsView(queries, 3), k, {.execution = cpu(2)});
            });
        }
        for (std::thread& caller : callers) {
            caller.join();
        }
        for (std::size_t caller = 0; caller < found.size(); ++caller) {
            const auto k = static_cast<std::int64_t>(caller + 5);
            EXPECT_EQ(found[caller]->engine, tree.engine());
            EXPECT_TRUE(
                same_rows<float>(*found[caller], caller % 2 == 0 ? expected.rows(k) : expected_of_queries.rows(k)));
        }
    }
}

TEST_F(Running, TreesOutliveTheArrayTheyWereBuiltFrom) {
    const std::vector<float> points = uniform_points<float>(300, 3, 0, 1, 94);
    const oracle::Rows<float> expected = oracle::Neighbors<float>(oracle::working_copy<float>(points, 3)).rows(5);
    for (const Engine engine : knn_engines()) {
        std::vector<float> given = points;
        std::optional<Tree> tree(std::in_place, PointsView(given, 3), TreeOptions{.engine = engine});
        const Tree copy = *tree;
        tree.reset();
        std::fill(given.begin(), given.end(), 0.0F);
        EXPECT_TRUE(same_rows<float>(knn(copy, 5, {.engine = engine}), expected));
        EXPECT_EQ(copy.points<float>(), points);
    }
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) &&                                                            \
    !defined(__SANITIZE_THREAD__) // these keep memory themselves
std::int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t pages = 0;
    statm >> pages >> pages;
    return pages * sysconf(_SC_PAGESIZE);
}

TEST_F(Running, ManyCallsLeaveNoMemoryBehind) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 95);
    const auto call_from_new_threads = [&](int times) {
        for (int i = 0; i < times; ++i) {
            std::vector<std::thread> callers;
            for (const int threads : {3, 4}) {
                callers.emplace_back(
                    [&points, threads] { (void)knn(PointsView(points, 3), 8, {.execution = cpu(threads)}); });
            }
            for (std::thread& caller : callers) {
                caller.join();
            }
        }
    };
    call_from_new_threads(200);
    const std::int64_t before = resident_bytes();
    call_from_new_threads(1000);
    EXPECT_LT(resident_bytes() - before, 4 << 20); // of 7 kilobytes a call: 14 megabytes
}
#endif

} // namespace
} // namespace kith::test
