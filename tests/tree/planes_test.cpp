// The planes of a tree, seen from outside: each partitions the sorted points into whole Morton cells of bounded size,
// the largest such cells where regularization is off, and coarser planes only join nodes of finer ones.
//
// Levels are the oracle's (equation 5 of the paper), taken between neighbors in z-order.
#include "oracle/z_order.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

constexpr std::int64_t coincident = std::numeric_limits<std::int64_t>::min();

class Planes : public testing::TestWithParam<Case> {};

// level[i] is that of the cell which first holds sorted points i - 1 and i; the ends lie above every level.
template <class T>
std::vector<std::int64_t> levels_between(const Tree& tree, const oracle::WorkingCopy<T>& copy) {
    const auto order = tree.order();
    std::vector<std::int64_t> levels(order.size() + 1, std::numeric_limits<std::int64_t>::max());
    for (std::size_t i = 1; i < order.size(); ++i) {
        levels[i] = oracle::level(copy.point(order[i - 1]), copy.point(order[i]), copy.dimension);
    }
    return levels;
}

// The number of points in the cell of that level around the split.
std::int64_t cell_size(const std::vector<std::int64_t>& levels, std::size_t split) {
    std::size_t begin = split;
    std::size_t end = split;
    do {
        --begin;
    } while (levels[begin] <= levels[split]);
    do {
        ++end;
    } while (levels[end] <= levels[split]);
    return static_cast<std::int64_t>(end - begin);
}

void check_planes(const Tree& tree, const TreeShape& shape, const std::vector<std::int64_t>& levels) {
    const std::int64_t count = tree.size();
    std::int64_t most = shape.leaf_size;
    for (int index = 0; index < tree.plane_count(); ++index) {
        const auto plane = tree.plane(index);
        ASSERT_GE(plane.size(), 2U);
        EXPECT_EQ(plane.front(), 0);
        EXPECT_EQ(plane.back(), count);
        for (std::size_t node = 0; node + 1 < plane.size(); ++node) {
            const auto begin = static_cast<std::size_t>(plane[node]);
            const auto end = static_cast<std::size_t>(plane[node + 1]);
            ASSERT_LT(begin, end) << "plane " << index << ", node " << node;
            ASSERT_LE(static_cast<std::int64_t>(end - begin), most) << "plane " << index << ", node " << node;
            // A node is a whole cell: every level inside is below both levels at its ends. Runs of coincident points
            // are cut by position instead.
            for (std::size_t i = begin + 1; i < end; ++i) {
                const bool cut_run = levels[begin] == coincident || levels[end] == coincident;
                ASSERT_TRUE((levels[i] < levels[begin] && levels[i] < levels[end]) || cut_run)
                    << "plane " << index << ", node " << node << " is no cell";
            }
            if (shape.regularization == 0 && node > 0 && levels[begin] != coincident) {
                ASSERT_GT(cell_size(levels, begin), most) << "plane " << index << " splits at " << begin;
            }
        }
        if (index > 0) {
            const auto finer = tree.plane(index - 1);
            EXPECT_TRUE(std::ranges::includes(finer, plane)) << "plane " << index;
        }
        const auto nodes = static_cast<std::int64_t>(plane.size()) - 1;
        if (index + 1 < tree.plane_count()) {
            EXPECT_GT(nodes, shape.top_size) << "plane " << index << " should be the top";
        } else if (shape.regularization == 0) {
            EXPECT_LE(nodes, shape.top_size);
        }
        most *= shape.coarsening;
    }
}

TEST_P(Planes, PartitionThePointsIntoNestedCells) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            for (const TreeShape& shape :
                 {TreeShape{}, TreeShape{1, 2, 1, 0}, TreeShape{4, 8, 1, 0}, TreeShape{24, 2, 4, 0},
                  TreeShape{3, 3, 2, 50}, TreeShape{1, 2, 256, 1}, TreeShape{1000000, 2, 1, 0}}) {
                const Tree tree(set.view(), {.box = named.box, .shape = shape});
                EXPECT_EQ(tree.size(), set.count());
                EXPECT_EQ(tree.dimension(), set.dimension);
                EXPECT_EQ(tree.dtype(), dtype_of<T>);
                EXPECT_EQ(tree.plane_count() == 0, set.count() == 0);
                check_planes(tree, shape, levels_between(tree, copy));
                EXPECT_FALSE(HasFatalFailure())
                    << named.name << ", leaf_size " << shape.leaf_size << ", coarsening " << shape.coarsening
                    << ", top_size " << shape.top_size << ", regularization " << shape.regularization;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Planes, testing::ValuesIn(every_case()), case_name);

class LargerTrees : public NeedsDimension<3> {};

TEST_F(LargerTrees, DoNotDependOnThreads) {
    const std::vector<float> points = uniform_points<float>(sized(20000), 3, 0, 1, 111);
    const Tree one(PointsView(points, 3), {.execution = cpu(1)});
    for (const int threads : {2, 7}) {
        const Tree many(PointsView(points, 3), {.execution = cpu(threads)});
        ASSERT_EQ(many.plane_count(), one.plane_count());
        EXPECT_TRUE(std::ranges::equal(many.order(), one.order()));
        for (int index = 0; index < one.plane_count(); ++index) {
            EXPECT_TRUE(std::ranges::equal(many.plane(index), one.plane(index)));
        }
    }
}

TEST_F(LargerTrees, RegularizationCutsTheLargestNodesOnly) {
    // Far from a dense clump lie a few points; unregularized they share one giant leaf.
    std::vector<float> points = uniform_points<float>(sized(8000), 3, 0.5, 0.625, 112);
    const std::vector<float> far = uniform_points<float>(20, 3, 100, 1000, 113);
    points.insert(points.end(), far.begin(), far.end());
    const Tree plain(PointsView(points, 3), {.shape = {.regularization = 0}});
    const Tree regularized(PointsView(points, 3), {.shape = {.regularization = 50}});
    EXPECT_TRUE(std::ranges::includes(regularized.plane(0), plain.plane(0)));
    EXPECT_GE(regularized.plane(0).size(), plain.plane(0).size() + 10);
    EXPECT_LE(regularized.plane(0).size(), plain.plane(0).size() + 40);
}

TEST_F(LargerTrees, ReportWhatBuildingTook) {
    const std::vector<float> points = uniform_points<float>(2000, 3, 0, 1, 114);
    const Tree tree(PointsView(points, 3));
    ASSERT_FALSE(tree.stages().empty());
    std::int64_t peak = 0;
    for (const StageReport& stage : tree.stages()) {
        EXPECT_FALSE(stage.name.empty());
        peak = std::max(peak, stage.peak_bytes);
    }
    EXPECT_GE(peak, 2000 * (3 * 4 + 4)); // at least the sorted copy and its order
}

} // namespace
} // namespace kith::test
