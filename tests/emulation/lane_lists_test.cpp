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

/// What each row's list holds, ranks in order, and whether its lanes were sure of it.
template <int List>
struct FoundByLanes {
    std::vector<std::vector<std::pair<float, std::int32_t>>> lists;
    std::vector<bool> is_sure;
    std::vector<int> counts;
};

/// The points of a block, each with its position as index, searched for queries, a power of two of them, within a
/// threshold.
template <int List>
FoundByLanes<List> search_by_lanes(const std::vector<Point>& points, const std::vector<Point>& queries, float threshold,
                                   int k = List) {
    using detail::warp_size;
    FoundByLanes<List> found{std::vector<std::vector<std::pair<float, std::int32_t>>>(queries.size()),
                             std::vector<bool>(queries.size()), std::vector<int>(queries.size())};
    const int count = static_cast<int>(points.size());
    const int rows = static_cast<int>(queries.size());
    run_warps("lane_lists", 1, 1, 1, [&] {
        static thread_local detail::LeafMemory<float, 3, List> memory;
        const int lane = static_cast<int>(threadIdx.x);
        for (int i = lane; i < std::min(count + 2 * detail::points_at_once, memory.max_points); i += warp_size) {
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
        detail::LaneLists<float, 3, false, List> lists(memory, count, rows);
        const auto row = static_cast<std::size_t>(lists.row());
        const detail::DevicePoint<float, 3, false> query(queries[row].data(), 1, open.data());
        bool is_sure = false;
        const int selected = lists.select(query, -1, threshold, k, is_sure);
        if (lane >= rows) {
            return;
        }
        found.counts[row] = selected;
        found.is_sure[row] = is_sure;
        for (int rank = 0; rank < List; ++rank) {
            const detail::RankKey<float> key = lists.neighbor(lane, rank);
            found.lists[row].emplace_back(key.squared(), key.index());
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
void expect_lists_of_drawn_points(int count, int rows = detail::warp_size) {
    const std::vector<Point> points = drawn_points(count, 7);
    const std::vector<Point> queries = drawn_points(rows, 8);
    const float threshold = 0.09F; // no column is full
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
    EXPECT_GE(sure, rows - 2);
}

TEST(LaneLists, AreSureOfAlmostAllDrawnPoints) {
    expect_lists_of_drawn_points<16>(200);
    expect_lists_of_drawn_points<16>(50); // fewer than the list is long
    expect_lists_of_drawn_points<32>(400);
    expect_lists_of_drawn_points<16>(0);
}

TEST(LaneLists, AreTheSameWhereRowsHaveSeveralLanes) {
    for (const int rows : {16, 4, 2, 1}) {
        expect_lists_of_drawn_points<16>(203, rows);
        expect_lists_of_drawn_points<16>(5, rows);
        expect_lists_of_drawn_points<16>(0, rows);
        expect_lists_of_drawn_points<32>(504, rows);
    }
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
void expect_the_nearest_of_all(int k, int rows = detail::warp_size) {
    const std::vector<Point> points = drawn_points(420, 9);
    const std::vector<Point> queries = drawn_points(rows, 10);
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
    EXPECT_GE(sure, rows - 4);
}

TEST(LaneLists, KeepTheNearestWhenColumnsAreFull) {
    expect_the_nearest_of_all<16>(1);
    expect_the_nearest_of_all<16>(8);
    expect_the_nearest_of_all<16>(16);
    expect_the_nearest_of_all<32>(32);
    expect_the_nearest_of_all<16>(16, 16);
    expect_the_nearest_of_all<16>(16, 4);
}

} // namespace
} // namespace kith::test
