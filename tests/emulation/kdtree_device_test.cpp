// The k-d tree that a GPU builds, on the emulated one, against the tree that is built in place: by level and by the
// widest cell, with few and with many levels before the rest is finished in shared memory.
#include "engines/kdtree/build_device.hpp"
#include "engines/kdtree/plain_build.hpp"
#include "engines/positions_on_earth.hpp"
#include "points/gather_device.hpp"

#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;
using kdtree::Split;

template <class T, int D>
void expect_the_tree_in_place(const std::vector<T>& coordinates, const Box& box, std::int64_t largest_finished) {
    DeviceContext context(cuda());
    const PointsView view(coordinates, D);
    const detail::PointsOnDevice there(context, view);
    const auto normalized = detail::normalize_sources_on_device<T, D>(context, there.view(), box);
    const detail::DevicePointSet<T> points = detail::gather_on_device<T, D>(context, normalized);
    const auto working = context.to_host(points.coordinates.data(), points.coordinates.size());
    std::vector<std::array<T, D>> copy(static_cast<std::size_t>(points.count));
    for (std::int64_t i = 0; i < points.count; ++i) {
        for (int axis = 0; axis < D; ++axis) {
            copy[i][axis] = working[axis * points.stride + i];
        }
    }
    for (const Split split : {Split::cyclic, Split::widest}) {
        SCOPED_TRACE(std::to_string(points.count) + " points, split " + std::to_string(static_cast<int>(split)) +
                     ", finished below " + std::to_string(largest_finished));
        const BuiltTree<std::array<T, D>> expected(copy, split);
        const auto tree = detail::build_kd_tree_on_device<T, D>(context, points, split, largest_finished);
        EXPECT_EQ(context.to_host(tree.indices.data(), points.count), expected.indices);
        EXPECT_EQ(context.to_host(tree.nodes.data(), points.count), expected.nodes);
        EXPECT_EQ(context.to_host(tree.least_indices.data(), points.count), expected.least_indices);
        if (split == Split::widest) {
            EXPECT_EQ(context.to_host(tree.split_axes.data(), points.count), expected.split_axes);
        }
    }
}

class KdTreeOnDevice : public testing::TestWithParam<Case> {};

TEST_P(KdTreeOnDevice, IsTheTreeInPlace) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, 3);
        // Other sizes and numbers of levels for other sets.
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{sizeof(T)}));
        const NamedBox& named = set.boxes[static_cast<std::size_t>(draw.integer(std::ssize(set.boxes)))];
        SCOPED_TRACE(named.name);
        std::vector<T> some = set.coordinates;
        some.resize(static_cast<std::size_t>(3 * std::min(set.count(), 60 + draw.integer(200))));
        expect_the_tree_in_place<T, 3>(some, named.box, 1 + draw.integer(100));
    });
}

INSTANTIATE_TEST_SUITE_P(In3D, KdTreeOnDevice, testing::ValuesIn(every_case_in(3)), case_name);

TEST(KdTreeOnDevice, OfEverySmallSize) {
    for (std::int64_t count = 0; count < 40; ++count) {
        const std::vector<float> points = uniform_points<float>(count, 2, -1, 1, 7);
        expect_the_tree_in_place<float, 2>(points, Box{}, 1);
        expect_the_tree_in_place<float, 2>(points, Box{}, 5);
    }
}

// Larger than a block finishes, so that all sizes are those of a search.
TEST(KdTreeOnDevice, OfCoincidentPointsOnAnyLevel) {
    expect_the_tree_in_place<float, 2>(std::vector<float>(2 * 1500, 0.25F), Box{}, detail::subtree_points);
    expect_the_tree_in_place<double, 2>(std::vector<double>(2 * 700, -0.25), Box{}, 30);
}

TEST(KdTreeOnDevice, OfPositionsOnEarthToAMillionthDegree) {
    const std::vector<double> positions = positions_on_earth<double>(1'200, 4);
    expect_the_tree_in_place<double, 2>(positions, Box{}, 200);
    expect_the_tree_in_place<float, 2>(std::vector<float>(positions.begin(), positions.end()), Box{}, 200);
}

} // namespace
} // namespace kith::test
