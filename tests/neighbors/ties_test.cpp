// Ties, duplicates and other inputs that are known to have broken neighbor searches, with answers that need no oracle
// or with the oracle's row for a sample of queries.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

namespace kith::test {
namespace {

const std::vector<Engine> engines = knn_engines();

std::vector<float> grid(int side) {
    std::vector<float> points;
    for (int x = 0; x < side; ++x) {
        for (int y = 0; y < side; ++y) {
            for (int z = 0; z < side; ++z) {
                points.insert(points.end(), {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)});
            }
        }
    }
    return points;
}

class Ties : public NeedsDimension<3> {};

TEST_F(Ties, ALatticeGivesDistinctNeighborsInEveryRow) {
    const int side = small_tests ? 16 : 40;
    const std::vector<float> points = grid(side);
    const std::int64_t count = std::int64_t{side} * side * side;
    constexpr std::int64_t k = 64;
    for (const Box& box : {Box{}, Box::periodic(side)}) {
        const KnnResult found = knn(PointsView(points, 3), k, {.box = box, .engine = Engine::tree});
        for (std::int64_t row = 0; row < count; ++row) {
            const auto indices = found.indices().subspan(static_cast<std::size_t>(row * k), k);
            ASSERT_EQ(std::set<std::int32_t>(indices.begin(), indices.end()).size(), static_cast<std::size_t>(k))
                << "row " << row;
        }
        const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, box);
        const oracle::Rows<float> all = rows_of<float>(found);
        for (std::int64_t row = 0; row < count; row += count / 61) {
            const auto start = static_cast<std::ptrdiff_t>(row * k);
            EXPECT_TRUE(same_rows<float>({{all.indices.begin() + start, all.indices.begin() + start + k},
                                          {all.distances.begin() + start, all.distances.begin() + start + k}},
                                         oracle::Neighbors<float>::row(copy, row, k), k))
                << "row " << row;
        }
    }
}

TEST_F(Ties, AHundredThousandCoincidentPoints) {
    constexpr std::int64_t count = 100000;
    constexpr std::int64_t k = 16;
    const std::vector<float> points(count * 3, 0.7F);
    const KnnResult found = knn(PointsView(points, 3), k, {.engine = Engine::tree});
    const KnnResult others = knn(PointsView(points, 3), k, {.exclude_self = true, .engine = Engine::tree});
    for (std::int64_t row = 0; row < count; ++row) {
        for (std::int64_t i = 0; i < k; ++i) {
            const auto at = static_cast<std::size_t>(row * k + i);
            ASSERT_EQ(found.indices()[at], i) << "row " << row;
            ASSERT_EQ(found.distances<float>()[at], 0.0F);
            ASSERT_EQ(others.indices()[at], i < row ? i : i + 1) << "row " << row;
            ASSERT_EQ(others.distances<float>()[at], 0.0F);
        }
    }
}

TEST_F(Ties, LongRowsOfCoincidentPoints) {
    const std::vector<double> points(200 * 3, -0.25);
    for (const Engine engine : engines) {
        const KnnResult found = knn(PointsView(points, 3), 128, {.engine = engine});
        for (std::size_t i = 0; i < found.indices().size(); ++i) {
            ASSERT_EQ(found.indices()[i], static_cast<std::int32_t>(i % 128)) << name_of(engine);
        }
    }
}

TEST_F(Ties, MissingNeighborsAreMarkedNotInvented) {
    const std::vector<float> points = uniform_points<float>(10, 3, 0, 1, 71);
    for (const Engine engine : engines) {
        const KnnResult found = knn(PointsView(points, 3), 25, {.exclude_self = true, .engine = engine});
        for (std::size_t i = 0; i < found.indices().size(); ++i) {
            const bool missing = i % 25 >= 9;
            EXPECT_EQ(found.indices()[i] == -1, missing) << name_of(engine) << ", entry " << i;
            EXPECT_EQ(found.distances<float>()[i] == std::numeric_limits<float>::infinity(), missing);
        }
    }
}

TEST_F(Ties, NegativeZeroIsZero) {
    const std::vector<float> signed_zeros{-0.0F, 0.0F, 0.0F, 0.0F, -0.0F, -0.0F, 1.0F, -0.0F, 0.0F, -1.0F, 0.0F, -0.0F};
    const std::vector<float> plain{0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, -1.0F, 0.0F, 0.0F};
    for (const Engine engine : engines) {
        EXPECT_TRUE(same_rows<float>(knn(PointsView(signed_zeros, 3), 4, {.engine = engine}),
                                     rows_of<float>(knn(PointsView(plain, 3), 4, {.engine = engine}))));
    }
    const Tree tree(PointsView(signed_zeros, 3));
    const Tree plain_tree(PointsView(plain, 3));
    EXPECT_TRUE(std::ranges::equal(tree.order(), plain_tree.order()));
}

TEST_F(Ties, RadiiOfDoublesKeepAllTheirDigits) {
    const std::vector<double> points{0, 0, 0, 1, 0, 0};
    const double just_below = 1 - 0x1p-53;
    for (const Engine engine : engines) {
        const KnnResult below = knn(PointsView(points, 3), 2, {.max_distance = just_below, .engine = engine});
        EXPECT_EQ(below.indices()[1], -1);
        const KnnResult exact = knn(PointsView(points, 3), 2, {.max_distance = 1, .engine = engine});
        EXPECT_EQ(exact.indices()[1], 1);
    }
}

TEST_F(Ties, ABoxNeedNotBeACube) {
    const std::vector<float> points{0.5F, 0.5F, 0.5F, 9.5F, 0.5F, 0.5F, 0.5F, 1.5F, 0.5F};
    const Box box = Box::periodic({10.0, 4.0, 0.0});
    for (const Engine engine : engines) {
        const KnnResult found = knn(PointsView(points, 3), 3, {.box = box, .squared = true, .engine = engine});
        EXPECT_EQ(std::vector<std::int32_t>(found.indices().begin(), found.indices().end()),
                  (std::vector<std::int32_t>{0, 1, 2, 1, 0, 2, 2, 0, 1}));
        EXPECT_EQ(std::vector<float>(found.distances<float>().begin(), found.distances<float>().end()),
                  (std::vector<float>{0, 1, 1, 0, 1, 2, 0, 1, 2}));
    }
}

TEST_F(Ties, ARunOfDuplicatesBesideOrdinaryPoints) {
    // 700 coincident points in the middle of a uniform set, neither first nor last in index.
    std::vector<float> points = uniform_points<float>(3000, 3, 0, 1, 72);
    std::fill_n(points.begin() + 3 * 1000, 3 * 700, 0.5F);
    const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, Box::periodic(1));
    const oracle::Rows<float> all = rows_of<float>(
        knn(PointsView(points, 3), 40, {.box = Box::periodic(1), .exclude_self = true, .engine = Engine::tree}));
    for (std::int64_t row = 0; row < 3000; row += 29) {
        const std::ptrdiff_t start = row * 40;
        EXPECT_TRUE(same_rows<float>({{all.indices.begin() + start, all.indices.begin() + start + 40},
                                      {all.distances.begin() + start, all.distances.begin() + start + 40}},
                                     oracle::Neighbors<float>::row(copy, row, 40, {.exclude_self = true}), 40))
            << "row " << row;
    }
}

} // namespace
} // namespace kith::test
