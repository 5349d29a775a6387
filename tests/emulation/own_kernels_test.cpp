// The headers for kernels of a user's, in a build in place and in searches of every kind, against plain recursion and all
// points. Compiled for the emulated GPU, and by nvcc for a real one (tests/cuda).
#include "emulation/own_kernels.hpp"
#include "engines/kdtree/plain_build.hpp"
#include "engines/positions_on_earth.hpp"

#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;
using kdtree::Split;

class OnADevice : public testing::Test {
protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
            GTEST_SKIP() << "no GPU";
        }
    }
};
using KdTreesInPlaceOnADevice = OnADevice;
using KdTreesInOwnKernels = OnADevice;

/// A struct of a user's, whose payload goes along.
struct Tagged {
    double x, y, z;
    std::int64_t payload;
    friend bool operator==(const Tagged&, const Tagged&) = default;
};
std::vector<Tagged> tagged(const std::vector<double>& coordinates) {
    std::vector<Tagged> points;
    for (std::size_t i = 0; i + 2 < coordinates.size(); i += 3) {
        points.push_back({coordinates[i], coordinates[i + 1], coordinates[i + 2], std::int64_t{1} << (i % 60)});
    }
    return points;
}

/// Built in place on the device, and what its bounds are.
template <class Point>
auto expect_the_tree_in_place_there(const std::vector<Point>& points) {
    using Tree = kdtree::TreeInPlace<Point>;
    using Bounds = kdtree::Bounds<typename Tree::T, Tree::dimension>;
    DeviceContext context(cuda());
    const auto count = std::ssize(points);
    const auto nodes = context.buffer<Point>(count);
    const auto indices = context.buffer<std::int32_t>(count);
    const auto scratch = context.buffer<kdtree::Node>(count);
    const auto split_axes = context.buffer<std::uint8_t>(count);
    const auto bounds = context.buffer<Bounds>(1);
    for (const Split split : {Split::cyclic, Split::widest, Split::widest_box}) {
        SCOPED_TRACE(std::to_string(count) + " points, split " + std::to_string(static_cast<int>(split)));
        context.copy(nodes.data(), points.data(), count * static_cast<std::int64_t>(sizeof(Point)));
        build_in_own_kernels(context, Tree{static_cast<kdtree::Node>(count), nodes.data(), indices.data(),
                                           scratch.data(), split_axes.data(), bounds.data(), split});
        if (count == 0) {
            continue;
        }
        const BuiltTree<Point> expected(points, split);
        EXPECT_EQ(context.to_host(nodes.data(), count), expected.nodes);
        EXPECT_EQ(context.to_host(indices.data(), count), expected.indices);
        EXPECT_EQ(context.to_host(split_axes.data(), count), expected.split_axes);
        const auto arranged = context.buffer<Point>(count);
        const auto least_indices = context.buffer<std::int32_t>(count);
        const auto size = static_cast<kdtree::Node>(count);
        kdtree::find_least_indices(indices.data(), size, least_indices.data(), own_launch(context));
        EXPECT_EQ(context.to_host(least_indices.data(), count), expected.least_indices);
        context.copy(nodes.data(), points.data(), count * static_cast<std::int64_t>(sizeof(Point)));
        kdtree::arrange(indices.data(), size, nodes.data(), arranged.data(), own_launch(context));
        EXPECT_EQ(context.to_host(arranged.data(), count), expected.nodes);
        build_in_own_kernels(
            context, Tree{size, nodes.data(), nullptr, scratch.data(), split_axes.data(), bounds.data(), split});
        EXPECT_EQ(context.to_host(nodes.data(), count), expected.nodes);
        EXPECT_EQ(context.to_host(split_axes.data(), count), expected.split_axes);
        const Bounds found = context.to_host(bounds.data(), 1).front();
        for (int axis = 0; axis < Tree::dimension; ++axis) {
            EXPECT_EQ(found.lower.x[axis], expected.bounds.lower.x[axis]);
            EXPECT_EQ(found.upper.x[axis], expected.bounds.upper.x[axis]);
        }
    }
}

TEST_F(KdTreesInPlaceOnADevice, AreThoseOfTheHost) {
    for (std::int64_t count = 0; count < 20; ++count) {
        expect_the_tree_in_place_there(arrays_of<float, 2>(uniform_points<float>(count, 2, -1, 1, 8)));
    }
    expect_the_tree_in_place_there(arrays_of<float, 2>(positions_on_earth<float>(700, 4)));
    expect_the_tree_in_place_there(arrays_of<double, 8>(uniform_points<double>(300, 8, -1, 1, 9)));
    for (const char* name : {"clustered", "lattice", "coincident"}) {
        SCOPED_TRACE(name);
        std::vector<double> coordinates = point_set<double>(name, 3).coordinates;
        coordinates.resize(std::min<std::size_t>(coordinates.size(), 3 * 400));
        expect_the_tree_in_place_there(tagged(coordinates));
    }
}

TEST_F(KdTreesInPlaceOnADevice, SayThatPointsAreNotFinite) {
    for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        std::vector<std::array<float, 2>> points = arrays_of<float, 2>(uniform_points<float>(300, 2, -1, 1, 8));
        points[277][1] = wrong;
        DeviceContext context(cuda());
        const auto there = context.buffer<std::array<float, 2>>(300);
        context.copy(there.data(), points.data(), 300 * sizeof(points[0]));
        const auto bounds = context.buffer<kdtree::Bounds<float, 2>>(1);
        detail::launch(context, "boxes",
                       kdtree::detail::measure_boxes<std::array<float, 2>, kdtree::PointTraits<std::array<float, 2>>>,
                       1, static_cast<int>(kdtree::detail::threads_of_build),
                       {{300, there.data(), nullptr, nullptr, nullptr, bounds.data()}, kdtree::detail::all_points});
        const auto found = context.to_host(bounds.data(), 1).front();
        EXPECT_TRUE(std::isfinite(found.lower.x[0]) && std::isfinite(found.upper.x[0]));
        EXPECT_TRUE(std::isnan(found.lower.x[1]) && std::isnan(found.upper.x[1]));
    }
}

// By all blocks: parts of the points, in scratch of any alignment, and then of the parts.
TEST_F(KdTreesInPlaceOnADevice, MeasureManyPointsInParts) {
    using Point = std::array<double, 2>;
    using Parts = kdtree::detail::PartsOfPoints<Point, kdtree::PointTraits<Point>>;
    std::vector<Point> points = arrays_of<double, 2>(uniform_points<double>(5000, 2, -1, 1, 8));
    points[4999][0] = 7;
    points[0][0] = -7;
    for (const bool is_finite : {true, false}) {
        if (!is_finite) {
            points[2500][1] = std::numeric_limits<double>::infinity();
        }
        for (const kdtree::Node parts : {2U, 4U}) {
            DeviceContext context(cuda());
            const auto there = context.buffer<Point>(5000);
            context.copy(there.data(), points.data(), 5000 * sizeof(Point));
            const auto scratch = context.buffer<kdtree::Node>(5001);
            const auto bounds = context.buffer<kdtree::Bounds<double, 2>>(1);
            const Parts job{{5000, there.data(), nullptr, scratch.data() + 1, nullptr, bounds.data()}, parts};
            constexpr auto threads = static_cast<int>(kdtree::detail::threads_of_build);
            detail::launch(context, "parts", kdtree::detail::measure_parts<Point, kdtree::PointTraits<Point>>, parts,
                           threads, job);
            detail::launch(context, "box", kdtree::detail::join_parts<Point, kdtree::PointTraits<Point>>, 1, threads,
                           job);
            const auto found = context.to_host(bounds.data(), 1).front();
            EXPECT_EQ(found.lower.x[0], -7);
            EXPECT_EQ(found.upper.x[0], 7);
            const auto [least, greatest] = std::minmax_element(
                points.begin(), points.end(), [](const Point& a, const Point& b) { return a[1] < b[1]; });
            EXPECT_EQ(std::isnan(found.lower.x[1]), !is_finite);
            EXPECT_EQ(std::isnan(found.upper.x[1]), !is_finite);
            if (is_finite) {
                EXPECT_EQ(found.lower.x[1], (*least)[1]);
                EXPECT_EQ(found.upper.x[1], (*greatest)[1]);
            }
        }
    }
}

/// By all points.
template <class T, int D>
std::vector<std::pair<T, std::int32_t>> sorted_by_distance(const std::vector<T>& points,
                                                           const kdtree::Position<T, D>& query, T period) {
    std::vector<std::pair<T, std::int32_t>> all;
    for (std::size_t i = 0; i < points.size() / D; ++i) {
        T sum = 0;
        for (int axis = 0; axis < D; ++axis) {
            T t = std::abs(query.x[axis] - points[i * D + static_cast<std::size_t>(axis)]);
            t = period > 0 ? std::min(t, period - t) : t;
            sum = axis == 0 ? t * t : std::fma(t, t, sum);
        }
        all.emplace_back(sum, static_cast<std::int32_t>(i));
    }
    std::sort(all.begin(), all.end());
    return all;
}

template <kdtree::Traversal method, class T, int D>
void expect_neighbors_in_a_kernel(const std::vector<T>& points, kdtree::Split split, T period) {
    const BuiltTree<std::array<T, D>> tree(arrays_of<T, D>(points), split);
    std::vector<kdtree::Position<T, D>> queries;
    for (std::size_t i = 0; i < tree.nodes.size(); i += 5) {
        kdtree::Position<T, D> query = kdtree::position_of(tree.nodes[i]);
        query.x[0] = i % 2 == 0 ? query.x[0] : T(0.75) * query.x[0] + T(0.1);
        queries.push_back(query);
    }
    const auto count = std::ssize(queries);
    DeviceContext context(cuda());
    const auto copied = [&]<class U>(const std::vector<U>& from) {
        detail::DeviceBuffer<U> there = context.buffer<U>(std::ssize(from));
        context.copy(there.data(), from.data(), std::ssize(from) * static_cast<std::int64_t>(sizeof(U)));
        return there;
    };
    const auto nodes = copied(tree.nodes);
    const auto indices = copied(tree.indices);
    const auto least_indices = copied(tree.least_indices);
    const auto split_axes = copied(tree.split_axes);
    const auto queries_there = copied(queries);
    const auto nearest = context.buffer<kdtree::Neighbor<T>>(count * few);
    const auto heaps = context.buffer<kdtree::Neighbor<T>>(count * many);
    const auto counts = context.buffer<std::int64_t>(count);
    auto view = tree.view();
    view.nodes.points = nodes.data();
    view.indices = indices.data();
    view.least_indices = least_indices.data();
    view.split_axes = split_axes.data();
    std::fill_n(view.periods.x, D, period);
    const T radius = T(0.125);
    search_in_own_kernel<method>(context, OwnSearches<T, D>{view, queries_there.data(), count, radius, nearest.data(),
                                                            heaps.data(), counts.data()});
    const auto found_few = context.to_host(nearest.data(), count * few);
    const auto found_many = context.to_host(heaps.data(), count * many);
    const auto found_counts = context.to_host(counts.data(), count);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto expected = sorted_by_distance<T, D>(points, queries[i], period);
        for (std::int64_t rank = 0; rank < many; ++rank) {
            const auto& [squared, index] = expected[rank];
            ASSERT_EQ(std::pair(found_many[i * many + rank].squared_distance, found_many[i * many + rank].index),
                      std::pair(squared, index))
                << "query " << i << ", rank " << rank;
            if (rank < few) {
                ASSERT_EQ(std::pair(found_few[i * few + rank].squared_distance, found_few[i * few + rank].index),
                          std::pair(squared, index))
                    << "query " << i << ", rank " << rank;
            }
        }
        const auto within = std::count_if(expected.begin(), expected.end(),
                                          [=](const auto& source) { return source.first <= radius * radius; });
        ASSERT_EQ(found_counts[i], within) << "query " << i;
    }
}

template <class T, int D>
void expect_neighbors_by_every_traversal(const std::vector<T>& points, kdtree::Split split, T period) {
    expect_neighbors_in_a_kernel<kdtree::Traversal::stack_free, T, D>(points, split, period);
    expect_neighbors_in_a_kernel<kdtree::Traversal::stack, T, D>(points, split, period);
    expect_neighbors_in_a_kernel<kdtree::Traversal::closest_corner, T, D>(points, split, period);
}

TEST_F(KdTreesInOwnKernels, FindTheNearestByEveryTraversal) {
    std::vector<float> lattice;
    for (int i = 0; i < 216; ++i) {
        lattice.insert(lattice.end(), {0.125F * static_cast<float>(i % 6), 0.125F * static_cast<float>(i / 6 % 6),
                                       0.125F * static_cast<float>(i / 36)});
    }
    for (const Split split : {Split::cyclic, Split::widest_box}) {
        for (const float period : {0.0F, 1.0F}) {
            expect_neighbors_by_every_traversal<float, 3>(uniform_points<float>(400, 3, 0, 1, 21), split, period);
            expect_neighbors_by_every_traversal<float, 3>(lattice, split, period);
            expect_neighbors_by_every_traversal<double, 2>(uniform_points<double>(300, 2, 0, 1, 22), split, period);
        }
    }
}

} // namespace
} // namespace kith::test
