// Points that another thread changes while they are loaded: beyond the bounds that were found for them, and not in
// order. The answer is then worth nothing, but it comes, every point is in it, and no leaf is larger than those that
// are searched.
#include "order/order.hpp"
#include "support/cases.hpp"
#include "support/context.hpp"
#include "tree/cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

using detail::Cut;
using detail::Cuts;
using detail::Cutter;

class ChangedMeanwhile : public NeedsDimension<3> {};

std::int64_t largest_leaf(const Cuts& cuts, std::int64_t count) {
    std::int64_t begin = 0;
    std::int64_t largest = 0;
    for (const Cut& cut : cuts.span()) {
        EXPECT_LT(begin, cut.position);
        largest = std::max(largest, cut.position - begin);
        begin = cut.position;
    }
    EXPECT_LT(begin, count);
    return std::max(largest, count - begin);
}

TEST_F(ChangedMeanwhile, CutsEndAndLeavesAreSmall) {
    const std::int64_t count = sized(40'000);
    std::vector<float> points = uniform_points<float>(count, 3, -1, 1, 71);
    detail::Context context(cpu(2));
    for (const bool falling : {false, true}) {
        if (falling) { // every cell would be cut at its end
            std::sort(points.begin(), points.end(), std::greater<>());
        }
        const detail::PointSet<float> copy =
            detail::gather_points(context, detail::normalize_sources<float>(PointsView(points, 3), Box{}));
        for (const std::int64_t most : {1, 16}) {
            Cuts cuts;
            context.run([&] { cuts = Cutter<float>(context, copy, 3, 40).cut(most); });
            EXPECT_LE(largest_leaf(cuts, count), most);
        }
    }
}

TEST_F(ChangedMeanwhile, SortingEndsAndLosesNoPoint) {
    const std::int64_t count = sized(40'000);
    for (const float factor : {1.0F, -1.0F, 1e6F, -1e6F, 1e30F, std::numeric_limits<float>::quiet_NaN()}) {
        for (const int every : {1, 2, 1000}) {
            std::vector<float> points = uniform_points<float>(count, 3, 1, 2, 72);
            detail::Context context(cpu(2));
            const detail::NormalizedPoints<float> normalized =
                detail::normalize_sources<float>(PointsView(points, 3), Box{});
            for (std::size_t i = 0; i < points.size(); i += static_cast<std::size_t>(every)) {
                points[i] *= factor;
            }
            detail::PointSet<float> sorted = detail::make_point_set(context, normalized.frame, count);
            context.run([&] { detail::ZOrderSort<float, 3>(context, normalized, sorted, detail::DonatedMemory()); });
            std::vector<std::int32_t> indices(sorted.indices.span().begin(), sorted.indices.span().end());
            std::sort(indices.begin(), indices.end());
            for (std::int64_t i = 0; i < count; ++i) {
                ASSERT_EQ(indices[i], i) << factor << " of every " << every;
            }
        }
    }
}

} // namespace
} // namespace kith::test
