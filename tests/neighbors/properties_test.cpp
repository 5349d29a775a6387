// What must hold without any oracle: renaming the points renames the answer, moving points of a coarse grid changes
// nothing, doubling all lengths doubles all distances, layout and threads do not matter.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

const std::vector<Engine> engines = knn_engines();

class Properties : public NeedsDimension<3> {};

TEST_F(Properties, PermutingThePointsPermutesTheAnswer) {
    const std::int64_t count = sized(1200);
    const std::vector<double> points = uniform_points<double>(count, 3, -1, 1, 61); // no two distances are equal
    std::vector<std::int64_t> old_index(static_cast<std::size_t>(count));
    std::iota(old_index.begin(), old_index.end(), 0);
    std::shuffle(old_index.begin(), old_index.end(), std::mt19937_64(62));
    std::vector<double> shuffled;
    for (const std::int64_t i : old_index) {
        shuffled.insert(shuffled.end(), points.begin() + i * 3, points.begin() + i * 3 + 3);
    }
    constexpr std::int64_t k = 9;
    for (const Engine engine : engines) {
        const oracle::Rows<double> before = rows_of<double>(knn(PointsView(points, 3), k, {.engine = engine}));
        const oracle::Rows<double> after = rows_of<double>(knn(PointsView(shuffled, 3), k, {.engine = engine}));
        oracle::Rows<double> restored = before;
        for (std::size_t i = 0; i < after.indices.size(); ++i) {
            const auto row = static_cast<std::size_t>(old_index[i / k]);
            restored.indices[row * k + i % k] = old_index[static_cast<std::size_t>(after.indices[i])];
            restored.distances[row * k + i % k] = after.distances[i];
        }
        EXPECT_TRUE(same_rows<double>(restored, before, k)) << name_of(engine);
    }
}

TEST_F(Properties, TranslatingACoarseGridChangesNothing) {
    std::vector<float> points;
    Random random(63);
    for (std::int64_t i = 0; i < sized(800) * 3; ++i) {
        points.push_back(static_cast<float>(random.integer(64)) / 64); // sums with 1000 and with -3 are exact
    }
    for (const Engine engine : engines) {
        const oracle::Rows<float> at_home = rows_of<float>(knn(PointsView(points, 3), 20, {.engine = engine}));
        for (const float shift : {1000.0F, -3.0F, -0.5F}) {
            std::vector<float> moved = points;
            for (float& x : moved) {
                x += shift;
            }
            EXPECT_TRUE(
                same_rows<float>(rows_of<float>(knn(PointsView(moved, 3), 20, {.engine = engine})), at_home, 20))
                << shift << ", " << name_of(engine);
        }
    }
}

TEST_F(Properties, TranslatingPointsOfAPeriodicGridChangesNothing) {
    std::vector<float> points;
    Random random(64);
    for (std::int64_t i = 0; i < sized(800) * 3; ++i) {
        points.push_back(static_cast<float>(random.integer(64)) / 64);
    }
    const Box box = Box::periodic(1).with_origin(0, 0).with_origin(1, 0).with_origin(2, 0);
    for (const Engine engine : engines) {
        const oracle::Rows<float> at_home =
            rows_of<float>(knn(PointsView(points, 3), 20, {.box = box, .engine = engine}));
        for (const float shift : {0.25F, -0.484375F, 5.0F}) {
            std::vector<float> moved = points;
            for (float& x : moved) {
                x += shift;
            }
            EXPECT_TRUE(same_rows<float>(rows_of<float>(knn(PointsView(moved, 3), 20, {.box = box, .engine = engine})),
                                         at_home, 20))
                << shift << ", " << name_of(engine);
        }
    }
}

TEST_F(Properties, ScalingByAPowerOfTwoScalesDistancesExactly) {
    const std::vector<float> points = uniform_points<float>(sized(600), 3, -1, 1, 65);
    for (const Engine engine : engines) {
        for (const bool squared : {false, true}) {
            const KnnOptions options{.squared = squared, .engine = engine};
            const oracle::Rows<float> at_home = rows_of<float>(knn(PointsView(points, 3), 12, options));
            for (const float factor : {2.0F, 0x1p-20F, 0x1p40F}) {
                std::vector<float> scaled = points;
                for (float& x : scaled) {
                    x *= factor;
                }
                oracle::Rows<float> expected = at_home;
                for (float& distance : expected.distances) {
                    distance *= squared ? factor * factor : factor;
                }
                EXPECT_TRUE(same_rows<float>(rows_of<float>(knn(PointsView(scaled, 3), 12, options)), expected, 12))
                    << factor << ", squared " << squared << ", " << name_of(engine);
            }
        }
    }
}

TEST_F(Properties, AnswersAreTheSameForAnyNumberOfThreadsAndFromRunToRun) {
    const std::vector<float> points = point_set<float>("few_distinct", 3).coordinates;
    const oracle::Rows<float> first =
        rows_of<float>(knn(PointsView(points, 3), 50, {.engine = Engine::tree, .execution = cpu(1)}));
    for (int run = 0; run < 12; ++run) {
        EXPECT_TRUE(same_rows<float>(
            rows_of<float>(knn(PointsView(points, 3), 50, {.engine = Engine::tree, .execution = cpu(run % 5)})), first,
            50));
    }
}

TEST(EveryDimension, IsSearched) {
    for (int dimension = 2; dimension <= max_dimension; ++dimension) {
        if (!is_built(dimension)) {
            continue;
        }
        const std::vector<float> points = uniform_points<float>(sized(400), dimension, 0, 1, 66);
        const std::vector<double> doubles(points.begin(), points.end());
        for (const Box& box : {Box{}, Box::periodic(1)}) {
            const oracle::Neighbors<float> expected(oracle::working_copy<float>(points, dimension, box));
            const oracle::Neighbors<double> expected_doubles(oracle::working_copy<double>(doubles, dimension, box));
            for (const Engine engine : engines) {
                EXPECT_TRUE(same_rows<float>(knn(PointsView(points, dimension), 17, {.box = box, .engine = engine}),
                                             expected.rows(17)))
                    << dimension << ", " << name_of(engine);
                EXPECT_TRUE(same_rows<double>(knn(PointsView(doubles, dimension), 17, {.box = box, .engine = engine}),
                                              expected_doubles.rows(17)))
                    << dimension << ", " << name_of(engine);
            }
        }
    }
}

} // namespace
} // namespace kith::test
