// Lists of neighbors by lanes, in one warp on the CPU: what lanes say that they are sure of, which a leaf's search
// would hide by finding it otherwise.
#include "emulation/kernel_cases.hpp"

#include "neighbors/lane_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using Point = std::array<float, 3>;

/// What each lane's list holds, ranks in order, and whether the lane was sure of it.
template <int List>
struct FoundByLanes {
    std::vector<std::vector<std::pair<float, std::int32_t>>> lists;
    std::vector<bool> is_sure;
    std::vector<int> counts;
};

/// The points of a block, each with its position as index, searched for 32 queries within a threshold.
template <int List>
FoundByLanes<List> search_by_lanes(const std::vector<Point>& points, const std::vector<Point>& queries, float threshold,
                                   int k = List) {
    using detail::warp_size;
    FoundByLanes<List> found{std::vector<std::vector<std::pair<float, std::int32_t>>>(warp_size),
                             std::vector<bool>(warp_size), std::vector<int>(warp_size)};
    const int count = static_cast<int>(points.size());
    run_warps("lane_lists", 1, 1, 1, [&] {
        static thread_local detail::LeafMemory<float, 3, List> memory;
        const int lane = static_cast<int>(threadIdx.x);
        for (int i = lane; i < count + detail::points_at_once; i += warp_size) {
            const float far = std::numeric_limits<float>::infinity();
            detail::BlockPoint<float, 3> point{{far, far, far}, std::numeric_limits<std::int32_t>::max()};
            if (i < count) {
                std::copy_n(points[static_cast<std::size_t>(i)].data(), 3, point.x);
                point.index = i;
            }
            memory.points[i] = point;
        }
        __syncwarp();
        const std::array<float, 3> open{};
        const detail::DevicePoint<float, 3, false> query(queries[static_cast<std::size_t>(lane)].data(), 1,
                                                         open.data());
        detail::LaneLists<float, 3, false, List> lists(memory, count);
        bool is_sure = false;
        found.counts[static_cast<std::size_t>(lane)] = lists.select(query, -1, threshold, k, is_sure);
        found.is_sure[static_cast<std::size_t>(lane)] = is_sure;
        for (int rank = 0; rank < List; ++rank) {
            const detail::RankKey<float> key = lists.neighbor(lane, rank);
            found.lists[static_cast<std::size_t>(lane)].emplace_back(key.squared(), key.index());
        }
    });
    return found;
}

std::vector<Point> drawn_points(int count, std::uint64_t seed) {
    Random draw(seed);
    std::vector<Point> points(static_cast<std::size_t>(count));
    for (Point& point : points) {
        for (float& x : point) {
            x = static_cast<float>(draw.uniform());
        }
    }
    return points;
}

/// All points within the threshold of a query, in order.
std::vector<std::pair<float, std::int32_t>> within(const std::vector<Point>& points, const Point& query,
                                                   float threshold) {
    std::vector<std::pair<float, std::int32_t>> near;
    for (std::size_t i = 0; i < points.size(); ++i) {
        float squared = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const float t = query[axis] - points[i][axis];
            squared = axis == 0 ? t * t : std::fma(t, t, squared);
        }
        if (squared <= threshold) {
            near.emplace_back(squared, static_cast<std::int32_t>(i));
        }
    }
    std::sort(near.begin(), near.end());
    return near;
}

template <int List>
void expect_lists_of_drawn_points(int count) {
    const std::vector<Point> points = drawn_points(count, 7);
    const std::vector<Point> queries = drawn_points(detail::warp_size, 8);
    const float threshold = 0.12F;
    const FoundByLanes<List> found = search_by_lanes<List>(points, queries, threshold);
    int sure = 0;
    for (std::size_t lane = 0; lane < queries.size(); ++lane) {
        auto expected = within(points, queries[lane], threshold);
        EXPECT_EQ(found.counts[lane], static_cast<int>(expected.size()));
        expected.resize(List, {std::numeric_limits<float>::infinity(), std::numeric_limits<std::int32_t>::max()});
        if (found.is_sure[lane]) {
            EXPECT_EQ(found.lists[lane], expected) << "lane " << lane;
            ++sure;
        }
    }
    EXPECT_GE(sure, detail::warp_size - 2);
}

TEST(LaneLists, AreSureOfAlmostAllDrawnPoints) {
    expect_lists_of_drawn_points<16>(200);
    expect_lists_of_drawn_points<16>(50); // fewer than the list is long
    expect_lists_of_drawn_points<32>(400);
    expect_lists_of_drawn_points<16>(0);
}

TEST(LaneLists, OrderTiesByIndexAndAreNotSureOfThoseThatTheListEndsIn) {
    std::vector<Point> points(40, Point{0.5F, 0.5F, 0.5F});
    const std::vector<Point> queries(detail::warp_size, Point{0.5F, 0.5F, 0.5F});
    const FoundByLanes<16> too_many = search_by_lanes<16>(points, queries, 0.1F);
    points.resize(16);
    std::reverse(points.begin(), points.end());
    const FoundByLanes<16> as_many = search_by_lanes<16>(points, queries, 0.1F);
    for (std::size_t lane = 0; lane < queries.size(); ++lane) {
        EXPECT_FALSE(too_many.is_sure[lane]);
        EXPECT_TRUE(as_many.is_sure[lane]);
        EXPECT_EQ(as_many.lists[lane], within(points, queries[lane], 0.1F));
    }
}

// Every column fills up, several times, with keys of which the list keeps the least.
template <int List>
void expect_the_nearest_of_all(int k) {
    const std::vector<Point> points = drawn_points(500, 9);
    const std::vector<Point> queries = drawn_points(detail::warp_size, 10);
    const float threshold = std::numeric_limits<float>::max();
    const FoundByLanes<List> found = search_by_lanes<List>(points, queries, threshold, k);
    int sure = 0;
    for (std::size_t lane = 0; lane < queries.size(); ++lane) {
        const auto expected = within(points, queries[lane], threshold);
        EXPECT_GE(found.counts[lane], k);
        for (std::size_t rank = 0; found.is_sure[lane] && rank < static_cast<std::size_t>(k); ++rank) {
            EXPECT_EQ(found.lists[lane][rank], expected[rank]) << "lane " << lane;
        }
        sure += found.is_sure[lane] ? 1 : 0;
    }
    EXPECT_GE(sure, detail::warp_size - 4);
}

TEST(LaneLists, KeepTheNearestWhenColumnsAreFull) {
    expect_the_nearest_of_all<16>(1);
    expect_the_nearest_of_all<16>(8);
    expect_the_nearest_of_all<16>(16);
    expect_the_nearest_of_all<32>(32);
}

} // namespace
} // namespace kith::test
