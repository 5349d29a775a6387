// The picture of a condensed tree: where clusters are, how wide, and which are in color.
#include "cli/icicles.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace kith::cli {
namespace {

bool operator==(const Color& a, const Color& b) {
    return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

/// 10 points: one leaves the root at lambda 1; at 2 it splits into 3 points, cluster 1, and 6, cluster 2. All leave at 4,
/// but three of cluster 2, at 3.
CondensedTree known_tree(double last) {
    CondensedTree tree;
    tree.clusters = {{-1, 10, -1, 0, 2, 0}, {0, 3, -1, 2, last, 0}, {0, 6, 0, 2, last, 0}};
    tree.last_clusters = {0, 1, 1, 1, 2, 2, 2, 2, 2, 2};
    tree.lambdas = {1, last, last, last, 3, 3, 3, last, last, last};
    return tree;
}

/// Colors of a row of pixels: at the middles of tenths of the width, which is from 96 to 1144.
std::vector<Color> row_of(const Canvas& canvas, double lambda, double densest) {
    std::vector<Color> row;
    const int y = static_cast<int>(64 + lambda / densest * 720);
    for (int tenth = 0; tenth < 10; ++tenth) {
        row.push_back(canvas.pixel(96 + static_cast<int>((tenth + 0.5) * 104.8), y));
    }
    return row;
}

TEST(Icicles, AreAsWideAsTheirPoints) {
    const CondensedTree tree = known_tree(4);
    const Canvas canvas = draw_icicles({&tree, "a title", "a subtitle"});
    const Color page = canvas.pixel(2, 2);
    const double densest = 1.1 * 4;
    const std::vector<Color> at_top = row_of(canvas, 0.5, densest);
    const Color gray = at_top[5];
    EXPECT_FALSE(gray == page);
    for (const Color& color : at_top) { // the root, of all points
        EXPECT_TRUE(color == gray);
    }
    // After the split: parts of a third and of two thirds, clusters of 3 and 6 tenths in their middles.
    const std::vector<Color> split = row_of(canvas, 2.5, densest);
    EXPECT_TRUE(split[1] == gray);
    const Color selected = split[6];
    EXPECT_FALSE(selected == gray || selected == page);
    EXPECT_TRUE(split[4] == selected && split[8] == selected);
    // Later half of the points of cluster 2 have left; at last all of both.
    const std::vector<Color> later = row_of(canvas, 3.5, densest);
    EXPECT_TRUE(later[1] == gray && later[6] == selected);
    EXPECT_TRUE(later[4] == page && later[8] == page);
    for (const Color& color : row_of(canvas, 4.2, densest)) {
        EXPECT_TRUE(color == page);
    }
}

TEST(Icicles, OfCoincidentPointsEndBelowAllOtherLambdas) {
    const CondensedTree tree = known_tree(std::numeric_limits<double>::max());
    const Canvas canvas = draw_icicles({&tree, "", ""});
    const std::vector<Color> row = row_of(canvas, 3.25, 1.1 * 3);
    EXPECT_FALSE(row[1] == canvas.pixel(2, 2) || row[6] == canvas.pixel(2, 2));
}

TEST(Icicles, OfNoPointsAndOfOneAreDrawn) {
    const CondensedTree none;
    EXPECT_EQ(draw_icicles({&none, "none", ""}).width(), 1200);
    CondensedTree one;
    one.clusters = {{-1, 1, -1, 0, 0, 0}};
    one.last_clusters = {0};
    one.lambdas = {0};
    EXPECT_EQ(draw_icicles({&one, "one", ""}).width(), 1200);
}

} // namespace
} // namespace kith::cli
