// The points and node boxes that a tree hands out.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// The tight boxes of a plane's nodes.
template <class T>
NodeBoxes<T> boxes_around(const std::vector<T>& points, int dimension, std::span<const std::int32_t> plane) {
    NodeBoxes<T> boxes;
    for (std::size_t node = 0; node + 1 < plane.size(); ++node) {
        for (int axis = 0; axis < dimension; ++axis) {
            boxes.lower.push_back(std::numeric_limits<T>::infinity());
            boxes.upper.push_back(-std::numeric_limits<T>::infinity());
            for (std::int32_t i = plane[node]; i < plane[node + 1]; ++i) {
                const T x = points[static_cast<std::size_t>(i * dimension + axis)];
                boxes.lower.back() = std::min(boxes.lower.back(), x);
                boxes.upper.back() = std::max(boxes.upper.back(), x);
            }
        }
    }
    return boxes;
}

class Contents : public testing::TestWithParam<Case> {};

TEST_P(Contents, AreTheWrappedPointsInOrderAndTheirBoxes) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const Tree tree(set.view(), {.box = named.box, .shape = {.leaf_size = 4, .coarsening = 3, .top_size = 2}});
            std::vector<T> expected;
            for (const std::int32_t i : tree.order()) {
                for (int axis = 0; axis < set.dimension; ++axis) {
                    expected.push_back(std::ldexp(copy.point(i)[axis], -copy.exponent));
                }
            }
            const std::vector<T> sorted = tree.sorted_points<T>();
            EXPECT_EQ(sorted, expected);
            for (int plane = 0; plane < tree.plane_count(); ++plane) {
                const NodeBoxes<T> found = tree.node_boxes<T>(plane);
                const NodeBoxes<T> around = boxes_around(sorted, set.dimension, tree.plane(plane));
                EXPECT_EQ(found.lower, around.lower) << "plane " << plane;
                EXPECT_EQ(found.upper, around.upper) << "plane " << plane;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Contents, testing::ValuesIn(every_case()), case_name);

class ContentsOf : public NeedsDimension<3> {
protected:
    std::vector<float> points = uniform_points<float>(100, 3, -0.5, 1.5, 181);
};

TEST_F(ContentsOf, AnOpenTreeAreThePointsBitForBit) {
    const Tree tree{PointsView(points, 3)};
    const std::vector<float> sorted = tree.sorted_points<float>();
    ASSERT_EQ(sorted.size(), points.size());
    for (std::size_t i = 0; i < 100; ++i) {
        const float* const point = &points[3 * static_cast<std::size_t>(tree.order()[i])];
        EXPECT_TRUE(std::equal(point, point + 3, &sorted[3 * i])) << i;
    }
}

TEST_F(ContentsOf, APeriodicTreeLieInTheBox) {
    const Tree tree(PointsView(points, 3), {.box = Box::periodic(1).with_origin(0, 0).with_origin(1, 0)});
    const std::vector<float> sorted = tree.sorted_points<float>();
    for (std::size_t i = 0; i < 100; ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double x = sorted[3 * i + axis];
            const double origin = tree.box().origin(static_cast<int>(axis)).value();
            EXPECT_GE(x, origin);
            EXPECT_LE(x, origin + 1);
            const double turns = x - points[3 * static_cast<std::size_t>(tree.order()[i]) + axis];
            EXPECT_NEAR(turns, std::round(turns), 1e-6);
        }
    }
    const auto top = tree.node_boxes<float>(tree.plane_count() - 1);
    EXPECT_LE(*std::max_element(top.upper.begin(), top.upper.end()), 1);
}

TEST_F(ContentsOf, AnEmptyTreeAreEmpty) {
    points.clear();
    const Tree tree{PointsView(points, 3)};
    EXPECT_TRUE(tree.sorted_points<float>().empty());
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"plane 0"}, [&] { (void)tree.node_boxes<float>(0); }));
}

TEST_F(ContentsOf, AnotherTypeOrPlaneAreRefused) {
    const Tree tree{PointsView(points, 3)};
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"float32", "float64"}, [&] { (void)tree.sorted_points<double>(); }));
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"float32", "float64"}, [&] { (void)tree.node_boxes<double>(0); }));
    for (const int plane : {-1, tree.plane_count()}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"plane " + std::to_string(plane)},
                               [&] { (void)tree.node_boxes<float>(plane); }));
    }
}

} // namespace
} // namespace kith::test
