// What is left of trees and results that were moved from: trees are still themselves, results are empty.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace kith::test {
namespace {

class Moved : public NeedsDimension<3> {
protected:
    std::vector<float> points = uniform_points<float>(50, 3, 0, 1, 7);
};

TEST_F(Moved, TreesAreStillThemselves) {
    Tree tree(PointsView(points, 3));
    const oracle::Rows<float> expected = rows_of<float>(knn(tree, 3));
    const Tree other = std::move(tree);
    EXPECT_TRUE(same_rows(knn(tree, 3), expected)); // NOLINT(bugprone-use-after-move): that is the question
    EXPECT_TRUE(same_rows(knn(other, 3), expected));
}

TEST_F(Moved, NeighborsAreNone) {
    KnnResult from = knn(PointsView(points, 3), 3);
    KnnResult to = std::move(from);
    EXPECT_EQ(to.rows(), 50);
    const auto expect_empty = [&] { // NOLINTBEGIN(bugprone-use-after-move)
        EXPECT_EQ(from.rows(), 0);
        EXPECT_EQ(from.indices().size(), 0U);
        EXPECT_EQ(from.distances<float>().size(), 0U);
        EXPECT_EQ(from.index_rows().rows(), 0);
        EXPECT_EQ(from.rows_view().index_count(), 0);
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"row 0", "has 0"}, [&] { (void)from.row(0); }));
    }; // NOLINTEND(bugprone-use-after-move)
    expect_empty();
    from = std::move(to);
    EXPECT_EQ(from.indices().size(), 150U);
    to = std::move(from);
    expect_empty();
}

TEST_F(Moved, NeighborsWithinARadiusAreNone) {
    RadiusResult from = radius_search(PointsView(points, 3), 0.3);
    const std::int64_t size = from.size();
    RadiusResult to = std::move(from);
    EXPECT_EQ(to.size(), size);
    const auto expect_empty = [&] { // NOLINTBEGIN(bugprone-use-after-move)
        EXPECT_EQ(from.rows(), 0);
        EXPECT_EQ(from.size(), 0);
        EXPECT_EQ(from.offsets().size(), 1U);
        EXPECT_EQ(from.indices().size(), 0U);
        EXPECT_EQ(from.distances<float>().size(), 0U);
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"row 0", "has 0"}, [&] { (void)from.row(0); }));
    }; // NOLINTEND(bugprone-use-after-move)
    expect_empty();
    from = std::move(to);
    EXPECT_EQ(from.size(), size);
    to = std::move(from);
    expect_empty();
}

TEST_F(Moved, SpanningTreesHaveNoPoints) {
    SpanningTree from = spanning_tree(PointsView(points, 3));
    SpanningTree to = from; // a copy shares the edges
    EXPECT_EQ(to.edges().data(), from.edges().data());
    to = std::move(from);
    EXPECT_EQ(to.count(), 49);
    EXPECT_EQ(from.points(), 0); // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(from.edges().size(), 0U);
    EXPECT_EQ(from.weights<float>().size(), 0U);
    Hierarchy merged = hierarchy(std::move(to));
    const Hierarchy others = std::move(merged);
    EXPECT_EQ(others.merges().size(), 49U);
    std::vector<double> none;
    merged.write_linkage(none); // NOLINT(bugprone-use-after-move)
}

} // namespace
} // namespace kith::test
