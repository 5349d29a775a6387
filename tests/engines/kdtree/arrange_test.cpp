// Points of any kind brought into the order of a tree, and what a search then finds.
#include "engines/kdtree/plain_build.hpp"
#include "support/cases.hpp"

#include <kith/device/kdtree.hpp>
#include <kith/kdtree_order.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace kith::test {
namespace {

using kdtree::Node;
using kdtree::Split;

/// As CUDA's, whose w may be a coordinate or payload.
struct Float4 {
    float x, y, z, w;
    friend bool operator==(const Float4&, const Float4&) = default;
};
using Axes4 = kdtree::NamedAxes<Float4, 4>;
using Axes3 = kdtree::NamedAxes<Float4, 3>;
struct Int1 {
    std::int32_t x;
};

std::vector<Float4> drawn_floats(std::int64_t count) {
    const std::vector<float> numbers = uniform_points<float>(count, 4, 0, 1, 31);
    std::vector<Float4> points;
    for (std::int64_t i = 0; i < count; ++i) {
        points.push_back({numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3]});
    }
    return points;
}

class Arranged : public NeedsDimension<3> {};

// Points and payload of two kinds, ordered by the compiled call and searched by the header.
TEST_F(Arranged, PointsAreTheNodesOfATree) {
    const std::vector<float> coordinates = uniform_points<float>(40'000, 3, 0, 1, 30);
    const auto points = arrays_of<float, 3>(coordinates);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < points.size(); ++i) {
        names.push_back(std::to_string(i));
    }
    const KdTreeOrder order = kdtree_order(points, Split::widest, cpu(2));
    std::vector<std::array<float, 3>> nodes(points.size());
    std::vector<std::string> names_of_nodes(points.size());
    kdtree::arrange(order.indices, points, nodes, 3);
    kdtree::arrange(order.indices, names, names_of_nodes);
    std::vector<std::int32_t> least(points.size());
    kdtree::find_least_indices(order.indices, least);
    const BuiltTree<std::array<float, 3>> expected(points, Split::widest);
    EXPECT_EQ(nodes, expected.nodes);
    EXPECT_EQ(least, expected.least_indices);

    auto tree = kdtree::view_of(nodes.data(), static_cast<Node>(nodes.size()),
                                kdtree::bounds_from<float, 3>(order.lower, order.upper));
    tree.indices = order.indices.data();
    tree.split_axes = order.split_axes.data();
    tree.least_indices = least.data();
    const KnnResult neighbors = knn(points, 5, {.execution = cpu(1)});
    for (std::size_t i = 0; i < points.size(); i += 100) {
        kdtree::Nearest<float, 5> nearest;
        kdtree::search(tree, kdtree::position_of(points[i]), nearest);
        for (int rank = 0; rank < 5; ++rank) {
            const std::int64_t index = neighbors.row(static_cast<std::int64_t>(i))[rank].index;
            ASSERT_EQ(nearest[rank].index, index);
            ASSERT_EQ(names_of_nodes[nearest[rank].node], std::to_string(index));
        }
    }
}

TEST(Arrange, TakesAnyNumberOfElementsAndThreads) {
    for (const std::int64_t count : {0, 1, 2, 16'384, 50'000}) {
        std::vector<std::int32_t> indices(static_cast<std::size_t>(count));
        std::iota(indices.rbegin(), indices.rend(), 0);
        std::vector<std::int32_t> from(indices.size());
        std::iota(from.begin(), from.end(), 5);
        for (const int threads : {1, 2, 7}) {
            std::vector<std::int64_t> to(indices.size(), -1);
            kdtree::arrange(indices, from, to, threads);
            for (std::size_t node = 0; node < to.size(); ++node) {
                ASSERT_EQ(to[node], indices[node] + 5);
            }
        }
    }
}

TEST(Arrange, RefusesArraysOfOtherLengths) {
    const std::vector<std::int32_t> indices{1, 0};
    std::vector<float> two(2);
    std::vector<float> one(1);
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"from", "1", "2"}, [&] { kdtree::arrange(indices, one, two); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"to", "1", "2"}, [&] { kdtree::arrange(indices, two, one); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"threads", "0"},
                           [&] { kdtree::arrange(indices, two, std::vector<float>(2), 0); }));
}

// Ties are broken by index though no indices are kept.
TEST(KdTreeBuild, NeedsNoIndices) {
    for (const Split split : {Split::cyclic, Split::widest, Split::widest_box}) {
        for (const char* name : {"clustered", "lattice", "coincident"}) {
            const auto points = arrays_of<double, 3>(point_set<double>(name, 3).coordinates);
            const BuiltTree<std::array<double, 3>> expected(points, split);
            auto nodes = points;
            std::vector<Node> scratch(points.size());
            std::vector<std::uint8_t> axes(points.size());
            kdtree::build(std::span(nodes), {}, std::span(scratch), std::span(axes), split, 2);
            EXPECT_EQ(nodes, expected.nodes);
            EXPECT_EQ(axes, expected.split_axes);
        }
    }
}

template <class Traits>
void expect_tree_of(const std::vector<Float4>& points) {
    constexpr int D = Traits::dimension;
    std::vector<std::array<float, D>> positions;
    for (const Float4& point : points) {
        std::array<float, D> x;
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = Traits::coordinate(point, axis);
        }
        positions.push_back(x);
    }
    const BuiltTree<std::array<float, D>> expected(positions, Split::widest);
    std::vector<Float4> nodes = points;
    std::vector<std::int32_t> indices(points.size());
    std::vector<Node> scratch(points.size());
    std::vector<std::uint8_t> axes(points.size());
    const auto bounds = kdtree::build<Float4, Traits>(std::span(nodes), std::span(indices), std::span(scratch),
                                                      std::span(axes), Split::widest);
    EXPECT_EQ(indices, expected.indices);
    EXPECT_EQ(axes, expected.split_axes);
    const kdtree::TreeView<kdtree::StructNodes<Float4, Traits>> tree{
        {nodes.data()}, static_cast<Node>(nodes.size()), bounds, indices.data(), axes.data()};
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        EXPECT_EQ(nodes[node], points[indices[node]]);
        kdtree::Nearest<float, 1> nearest;
        kdtree::search(tree, kdtree::position_by<Traits>(nodes[node]), nearest);
        EXPECT_EQ(nearest[0].node, node);
        EXPECT_EQ(nearest[0].squared_distance, 0);
    }
}

TEST(KdTreePoints, OfFourNumbersHaveFourAxesOrThree) {
    const std::vector<Float4> points = drawn_floats(300);
    expect_tree_of<Axes4>(points);
    expect_tree_of<Axes3>(points);
}

/// The nearest of all numbers, by exact differences.
template <class Point, class Number>
void expect_nearest_on_a_line(const std::vector<Number>& numbers) {
    std::vector<Point> points;
    for (const Number number : numbers) {
        points.push_back({number});
    }
    const BuiltTree<Point> tree(points, Split::cyclic);
    for (const Number query : numbers) {
        std::vector<std::tuple<double, std::int32_t>> expected;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const double apart = static_cast<double>(query) - static_cast<double>(numbers[i]);
            expected.emplace_back(apart * apart, static_cast<std::int32_t>(i));
        }
        std::sort(expected.begin(), expected.end());
        kdtree::Nearest<double, 3> nearest;
        kdtree::search(tree.view(), kdtree::position_of(Point{query}), nearest);
        for (int rank = 0; rank < 3; ++rank) {
            EXPECT_EQ(std::tuple(nearest[rank].squared_distance, nearest[rank].index),
                      expected[static_cast<std::size_t>(rank)]);
        }
    }
}

template <class Number>
std::vector<Number> drawn_integers() {
    Random random(sizeof(Number));
    using Limits = std::numeric_limits<Number>;
    std::vector<Number> numbers{Limits::min(), Limits::max(), Limits::max(), 0};
    for (int i = 0; i < 100; ++i) {
        numbers.push_back(static_cast<Number>(random.uniform(Limits::min(), Limits::max())));
    }
    return numbers;
}

TEST(KdTreePoints, MayBeIntegersOfAnyKind) {
    expect_nearest_on_a_line<std::int8_t>(drawn_integers<std::int8_t>());
    expect_nearest_on_a_line<std::uint16_t>(drawn_integers<std::uint16_t>());
    expect_nearest_on_a_line<std::uint32_t>(drawn_integers<std::uint32_t>());
    expect_nearest_on_a_line<std::array<std::int16_t, 1>>(drawn_integers<std::int16_t>());
    expect_nearest_on_a_line<Int1>(drawn_integers<std::int32_t>());
    expect_nearest_on_a_line<double>(std::vector<double>{0.5, -3, 8, 0.25, 0.5});
}

} // namespace
} // namespace kith::test
