// All builders make one and the same tree: in place, by all threads, level by level as in the paper, and by plain
// recursion. The paper's examples are known answers.
#include "engines/kdtree/built_by_threads.hpp"
#include "engines/kdtree/plain_build.hpp"
#include "engines/positions_on_earth.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using kdtree::Node;
using kdtree::Split;

constexpr Split all_splits[] = {Split::cyclic, Split::widest, Split::widest_box};

template <class T, int D>
void compare_builders(const std::vector<T>& coordinates) {
    const std::vector<std::array<T, D>> points = arrays_of<T, D>(coordinates);
    for (const Split split : all_splits) {
        const PlainTree expected = PlainBuild<T, D>::tree(points, split);
        const BuiltTree<std::array<T, D>> tree(points, split);
        EXPECT_EQ(tree.indices, expected.indices) << "split " << static_cast<int>(split);
        EXPECT_EQ(tree.split_axes, expected.split_axes);
        EXPECT_TRUE((agree<T, D>(points, tree, split, 1)));
    }
}

class KdTreeBuilders : public testing::TestWithParam<Case> {};

TEST_P(KdTreeBuilders, MakeTheSameTree) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        if (set.dimension == 2) {
            compare_builders<T, 2>(set.coordinates);
        } else if (set.dimension == 3) {
            compare_builders<T, 3>(set.coordinates);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(In2D, KdTreeBuilders, testing::ValuesIn(every_case_in(2)), case_name);
INSTANTIATE_TEST_SUITE_P(In3D, KdTreeBuilders, testing::ValuesIn(every_case_in(3)), case_name);

// The header depends on no dimension that is built.
TEST(KdTreeBuildersIn, OtherDimensions) {
    for (const char* name : {"clustered", "lattice", "coincident"}) {
        SCOPED_TRACE(name);
        compare_builders<double, 4>(point_set<double>(name, 4).coordinates);
        compare_builders<float, 7>(point_set<float>(name, 7).coordinates);
        compare_builders<double, 8>(point_set<double>(name, 8).coordinates);
    }
}

/// Ranges large enough that all threads part them.
template <int D, class T>
void compare_large(const std::vector<T>& coordinates) {
    const std::vector<std::array<T, D>> points = arrays_of<T, D>(coordinates);
    for (const Split split : all_splits) {
        const BuiltTree<std::array<T, D>> tree(points, split);
        EXPECT_EQ((BuiltTree<std::array<T, D>>(points, split, 3).indices), tree.indices);
        for (const int threads : {1, 3}) {
            EXPECT_TRUE((agree<T, D>(points, tree, split, threads)));
        }
    }
}
constexpr std::int64_t large = (1 << 17) + 1000;

TEST(LargeKdTrees, OfUniformPoints) {
    compare_large<3>(uniform_points<float>(large, 3, -1, 1, 1));
}

/// Whose records have one coordinate in the upper levels.
TEST(LargeKdTrees, OfWidePoints) {
    compare_large<7>(uniform_points<float>(large, 7, -1, 1, 2));
    compare_large<4>(uniform_points<double>(large, 4, -1, 1, 3));
    std::vector<double> coordinates = uniform_points<double>(large / 8, 8, 0, 1, 4);
    for (double& x : coordinates) {
        x = std::floor(4 * x); // many are equal
    }
    compare_large<8>(coordinates);
}

TEST(LargeKdTrees, OfCoincidentPoints) {
    compare_large<2>(std::vector<float>(2 * large, 0.25F));
}

TEST(LargeKdTrees, OfPositionsOnEarthToAMillionthDegree) {
    compare_large<2>(positions_on_earth<float>(large, 4));
}

TEST(LargeKdTrees, OfScalesThatNoIntervalsResolve) {
    Random random(5);
    std::vector<float> coordinates;
    for (std::int64_t i = 0; i < 2 * large; ++i) {
        coordinates.push_back(static_cast<float>(std::exp2(random.uniform(-120, 120))));
    }
    compare_large<2>(coordinates);
}

TEST(LargeKdTrees, OfPointsThatASampleMisjudges) {
    static_assert(large / (large / 128) == 128);
    std::vector<float> coordinates = uniform_points<float>(large, 2, 0, 1, 6);
    constexpr std::int64_t step = 16; // those of the sample are among them: it takes one of 128
    for (std::int64_t i = 0; i < std::ssize(coordinates); i += 2 * step) {
        coordinates[i] += 5;
    }
    compare_large<2>(coordinates);
}

struct IntPoint {
    std::int32_t x;
    std::int32_t y;
    friend bool operator==(const IntPoint&, const IntPoint&) = default;
};

const std::vector<IntPoint> example{{10, 15}, {46, 63}, {68, 21}, {40, 33}, {25, 54},
                                    {15, 43}, {44, 58}, {45, 40}, {62, 69}, {53, 67}};
const std::vector<IntPoint> example_tree{{46, 63}, {15, 43}, {53, 67}, {40, 33}, {44, 58},
                                         {68, 21}, {62, 69}, {10, 15}, {45, 40}, {25, 54}};

// The paper's section 5, level by level, with its tags.
TEST(KdTreeExamples, AreThoseOfThePaperLevelByLevel) {
    const std::vector<std::vector<Node>> tags_of_levels{
        {1, 1, 1, 1, 1, 1, 0, 2, 2, 2}, {0, 3, 3, 3, 1, 4, 4, 5, 2, 6}, {0, 1, 2, 7, 3, 8, 9, 4, 5, 6}};
    struct Tagged {
        Node tag;
        IntPoint point;
    };
    std::vector<Tagged> points;
    for (const IntPoint& point : example) {
        points.push_back({0, point});
    }
    const auto sort_along = [&](int axis) {
        std::stable_sort(points.begin(), points.end(), [&](const Tagged& a, const Tagged& b) {
            const std::int32_t ax = axis == 0 ? a.point.x : a.point.y;
            const std::int32_t bx = axis == 0 ? b.point.x : b.point.y;
            return a.tag < b.tag || (a.tag == b.tag && ax < bx);
        });
    };
    const auto count = static_cast<Node>(points.size());
    for (int level = 0; level < 3; ++level) {
        sort_along(level % 2);
        std::vector<Node> tags;
        for (Node i = 0; i < count; ++i) {
            Node& tag = points[i].tag;
            if (i >= kdtree::first_of_level(level)) {
                const Node pivot = kdtree::pivot_position(tag, count);
                tag = i < pivot ? kdtree::left_child(tag) : (i > pivot ? kdtree::right_child(tag) : tag);
            }
            tags.push_back(tag);
        }
        EXPECT_EQ(tags, tags_of_levels[level]) << "level " << level;
    }
    sort_along(1);
    for (Node i = 0; i < count; ++i) {
        EXPECT_EQ(points[i].point, example_tree[i]) << i;
    }
}

TEST(KdTreeExamples, AreBuiltInPlace) {
    const BuiltTree<IntPoint> tree(example, Split::cyclic);
    EXPECT_EQ(tree.nodes, example_tree);
    // Figure 1: the tree of Wikipedia's article.
    const BuiltTree<IntPoint> figure({{2, 3}, {5, 4}, {9, 6}, {4, 7}, {8, 1}, {7, 2}}, Split::cyclic);
    EXPECT_EQ(figure.nodes, (std::vector<IntPoint>{{7, 2}, {5, 4}, {9, 6}, {2, 3}, {4, 7}, {8, 1}}));
}

TEST(KdTreeBuild, OrdersSignedZerosByIndex) {
    const BuiltTree<std::array<float, 1>> tree({{0.0F}, {-0.0F}, {0.0F}, {-0.0F}}, Split::cyclic);
    EXPECT_EQ(tree.indices, (std::vector<std::int32_t>{2, 1, 3, 0}));
}

TEST(KdTreeBuild, RefusesWhatItCannotOrder) {
    std::vector<std::array<float, 2>> points{{0, 1}, {2, NAN}};
    const std::vector<std::array<float, 2>> given = points;
    std::vector<std::int32_t> indices(2, 7);
    std::vector<Node> scratch(2);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"coordinate 1 of point 1"},
                           [&] { kdtree::build(std::span(points), std::span(indices), std::span(scratch)); }));
    EXPECT_EQ(indices, std::vector<std::int32_t>({7, 7}));
    EXPECT_EQ(points[0], given[0]);
    points[1][1] = 3;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices", "1", "2"},
                           [&] { kdtree::build(std::span(points), std::span(indices).first(1), std::span(scratch)); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"split_axes", "0", "2"}, [&] {
        kdtree::build(std::span(points), std::span(indices), std::span(scratch), {}, Split::widest);
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"threads", "0"}, [&] {
        kdtree::build(std::span(points), std::span(indices), std::span(scratch), {}, Split::cyclic, 0);
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"least", "1", "2"},
                           [&] { kdtree::find_least_indices(indices, std::span(indices).first(1)); }));
}

} // namespace
} // namespace kith::test
