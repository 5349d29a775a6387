// Cuts of points that are not in order, as they are if another thread changes the caller's while they are loaded: the
// answer is then worth nothing, but it comes, and no leaf is larger than those that are searched.
#include "support/cases.hpp"
#include "support/context.hpp"
#include "tree/cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace kith::test {
namespace {

using detail::Cut;
using detail::Cuts;
using detail::Cutter;

class CutsOfDisorder : public NeedsDimension<3> {};

std::int64_t largest_leaf(const Cuts& cuts, std::int64_t count) {
    std::int64_t begin = 0;
    std::int64_t largest = 0;
    for (const Cut& cut : cuts) {
        EXPECT_LT(begin, cut.position);
        largest = std::max(largest, cut.position - begin);
        begin = cut.position;
    }
    EXPECT_LT(begin, count);
    return std::max(largest, count - begin);
}

TEST_F(CutsOfDisorder, EndAndLeavesAreSmall) {
    const std::int64_t count = sized(40'000);
    std::vector<float> points = uniform_points<float>(count, 3, -1, 1, 71);
    detail::Context context(cpu(2));
    for (const bool falling : {false, true}) {
        if (falling) { // every cell would be cut at its end
            std::sort(points.begin(), points.end(), std::greater<>());
        }
        const detail::PointSet<float> copy =
            detail::gather_points<float, 3>(context, detail::place_sources<float>(PointsView(points, 3), Box{}));
        for (const std::int64_t most : {1, 16}) {
            Cuts cuts;
            context.run([&] { cuts = Cutter<float, 3>(copy, 40).cut(most); });
            EXPECT_LE(largest_leaf(cuts, count), most);
        }
    }
}

} // namespace
} // namespace kith::test
