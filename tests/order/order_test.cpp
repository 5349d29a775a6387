// The order of a tree is the z-order of the paper: a permutation that the oracle's comparison finds sorted, coincident
// points by original index.
#include "oracle/z_order.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith::test {
namespace {

template <class T>
testing::AssertionResult is_ordered(const std::vector<T>& points, int dimension, const Box& box, int threads = 0) {
    const Tree tree(PointsView(points, dimension), {.box = box, .execution = cpu(threads)});
    const std::vector<std::int32_t> expected = oracle::z_order(oracle::working_copy<T>(points, dimension, box));
    if (tree.order().size() != expected.size()) {
        return testing::AssertionFailure() << tree.order().size() << " positions instead of " << expected.size();
    }
    const auto wrong = std::mismatch(expected.begin(), expected.end(), tree.order().begin());
    if (wrong.first != expected.end()) {
        return testing::AssertionFailure() << "position " << wrong.first - expected.begin() << " holds point "
                                           << *wrong.second << ", expected point " << *wrong.first;
    }
    return testing::AssertionSuccess();
}

class ZOrderSort : public testing::TestWithParam<Case> {};

TEST_P(ZOrderSort, IsTheOraclesOrder) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            for (const int threads : {1, 3}) {
                EXPECT_TRUE(is_ordered(set.coordinates, set.dimension, named.box, threads)) << named.name;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, ZOrderSort, testing::ValuesIn(every_case()), case_name);

class LargerOrders : public NeedsDimension<3> {};

TEST_F(LargerOrders, OfManyPoints) {
    EXPECT_TRUE(is_ordered(uniform_points<float>(sized(100000), 3, -1, 1, 101), 3, {}));
    EXPECT_TRUE(is_ordered(uniform_points<double>(sized(100000), 3, 0, 1, 102), 3, Box::periodic(1)));
}

class SixDimensionalOrders : public NeedsDimension<6> {};

// Cells of these sizes are split by few bits of the key, the first of which are those of the first axes.
TEST_F(SixDimensionalOrders, OfPointsWhoseSignsDifferOnTheLastAxisOnly) {
    for (const std::int64_t count : {9000, 17000, 33000}) {
        std::vector<float> points = uniform_points<float>(count, 6, 0, 1, 105);
        for (std::size_t i = 0; i < points.size(); i += 12) {
            points[i + 5] *= -1;
        }
        EXPECT_TRUE(is_ordered(points, 6, {})) << count;
    }
}

TEST_F(LargerOrders, OfManyPointsWithinOneKey) {
    // All but a few points differ only in bits far below the first 64 of a key, so runs of equal keys are keyed again.
    for (const double width : {0x1p-12, 0x1p-20}) {
        std::vector<float> points = uniform_points<float>(sized(20000), 3, 0.5, 0.5 + width, 103);
        points.insert(points.end(), {-1e6F, 1e6F, 3.0F, 0.0F, -0.0F, 1e-20F});
        EXPECT_TRUE(is_ordered(points, 3, {})) << width;
        std::vector<double> doubles = uniform_points<double>(sized(20000), 3, 0.5, 0.5 + width * 0x1p-20, 104);
        doubles.insert(doubles.end(), {-1e6, 1e6, 3.0, 0.0, -0.0, 1e-20});
        EXPECT_TRUE(is_ordered(doubles, 3, {})) << width;
    }
}

TEST_F(LargerOrders, OfPointsOnEveryScale) {
    std::vector<double> points;
    Random random(105);
    for (std::int64_t i = 0; i < sized(30000); ++i) {
        points.push_back(std::ldexp(random.uniform(-1, 1), -static_cast<int>(random.integer(300))));
    }
    EXPECT_TRUE(is_ordered(points, 3, {}));
    EXPECT_TRUE(!is_built(2) || is_ordered(points, 2, {}));
}

TEST_F(LargerOrders, OfLongRunsOfCoincidentPoints) {
    std::vector<float> points;
    Random random(106);
    for (std::int64_t i = 0; i < sized(20000); ++i) {
        const auto corner = static_cast<float>(random.integer(3)) / 3 - 0.5F;
        points.insert(points.end(), {corner, random.integer(50) == 0 ? 0.125F : -0.0F, corner});
    }
    EXPECT_TRUE(is_ordered(points, 3, {}));
}

} // namespace
} // namespace kith::test
