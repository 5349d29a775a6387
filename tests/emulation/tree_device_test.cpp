// The tree that a device makes of a caller's points, run on the CPU, against the CPU's own: the same frame, order and
// planes, and the same refusals. What is found of its nodes: attributes, blocks of leaves.
#include "neighbors/visit_device.hpp"
#include "points/normalize_device.hpp"
#include "tree/build_device.hpp"
#include "tree/device_attributes.hpp"
#include "tree/plane_tree.hpp"

#include "emulation/tested_dimensions.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;

template <class T, int D>
void expect_same_tree(const PointsView& view, const Box& box, TreeShape shape) {
    shape = detail::device_tree_shape(shape);
    shape.regularization = 0;
    detail::Context cpu_context(cpu(1));
    const auto normalized = detail::normalize_sources<T>(view, box);
    const detail::PlaneTree<T> expected = detail::build_plane_tree<T>(cpu_context, normalized, shape);

    DeviceContext context(cuda());
    const detail::PointsOnDevice points(context, view);
    const auto normalized_there = detail::normalize_sources_on_device<T, D>(context, points.view(), box);
    EXPECT_EQ(normalized_there.lower, normalized.lower);
    EXPECT_EQ(normalized_there.upper, normalized.upper);
    EXPECT_EQ(normalized_there.wraps, normalized.wraps);
    EXPECT_EQ(normalized_there.frame.origin, normalized.frame.origin);
    const detail::DevicePlaneTree<T> tree = detail::build_device_tree<T, D>(context, normalized_there, shape);

    const std::int64_t count = expected.points.count;
    const auto indices = context.to_host(tree.points.indices.data(), count);
    EXPECT_TRUE(std::equal(indices.begin(), indices.end(), expected.points.indices.data()));
    const auto coordinates = context.to_host(tree.points.coordinates.data(), tree.points.coordinates.size());
    for (int axis = 0; axis < D; ++axis) {
        EXPECT_TRUE(std::equal(coordinates.begin() + axis * tree.points.stride,
                               coordinates.begin() + axis * tree.points.stride + count, expected.points.axis(axis)));
    }
    ASSERT_EQ(tree.planes.size(), expected.planes.size());
    for (std::size_t i = 0; i < tree.planes.size(); ++i) {
        SCOPED_TRACE("plane " + std::to_string(i));
        const auto& plane = tree.planes[i];
        const detail::Plane<T>& same = expected.planes[i];
        ASSERT_EQ(plane.nodes, same.nodes);
        const auto first = context.to_host(plane.first_point.data(), plane.nodes + 1);
        EXPECT_TRUE(std::equal(first.begin(), first.end(), same.first_point.data()));
        const auto child = context.to_host(plane.first_child.data(), plane.first_child.size());
        EXPECT_TRUE(std::equal(child.begin(), child.end(), same.first_child.data()));
        const auto smallest = context.to_host(plane.smallest_index.data(), plane.nodes);
        EXPECT_TRUE(std::equal(smallest.begin(), smallest.end(), same.smallest_index.data()));
        const auto lower = context.to_host(plane.lower_corners.data(), plane.nodes * D);
        const auto upper = context.to_host(plane.upper_corners.data(), plane.nodes * D);
        for (int axis = 0; axis < D; ++axis) {
            EXPECT_TRUE(std::equal(lower.begin() + axis * plane.nodes, lower.begin() + (axis + 1) * plane.nodes,
                                   same.lower(axis)));
            EXPECT_TRUE(std::equal(upper.begin() + axis * plane.nodes, upper.begin() + (axis + 1) * plane.nodes,
                                   same.upper(axis)));
        }
    }
}

class TreeOnDevice : public testing::TestWithParam<Case> {};

TEST_P(TreeOnDevice, IsThatOfTheCpu) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        with_tested_dimension(GetParam().dimension, [&]<int D>(std::integral_constant<int, D>) {
            const PointSet<T> set = point_set<T>(GetParam().set, D);
            for (const NamedBox& named : set.boxes) {
                SCOPED_TRACE(named.name);
                expect_same_tree<T, D>(set.view(), named.box, {.leaf_size = 5, .coarsening = 3, .top_size = 4});
                expect_same_tree<T, D>(set.view(), named.box, {.leaf_size = 1, .coarsening = 2, .top_size = 1});
            }
            expect_same_tree<T, D>(set.view(), Box{}, {.leaf_size = 32});
        });
    });
    EXPECT_EQ(emulation::held_on_device(), 0);
}

INSTANTIATE_TEST_SUITE_P(EveryCase, TreeOnDevice, testing::ValuesIn(every_case()), case_name);

using TreeOnDeviceAlone = NeedsDimension<3>;

// Every coordinate is a power of two on its own: runs of equal keys go on for many rounds.
TEST_F(TreeOnDeviceAlone, SettlesEqualKeysOverManyRounds) {
    Random draw(3);
    std::vector<double> points;
    for (int i = 0; i < 3 * 500; ++i) {
        points.push_back(std::ldexp(draw.integer(3) == 0 ? -1.0 : 1.0, -static_cast<int>(draw.integer(700))));
    }
    expect_same_tree<double, 3>(PointsView(points, 3), Box{}, {.leaf_size = 3});
    std::vector<float> narrow;
    for (int i = 0; i < 3 * 500; ++i) {
        narrow.push_back(1.0F + static_cast<float>(draw.integer(3)) * 0x1p-23F);
    }
    narrow.insert(narrow.end(), {1e6F, 0, -1e6F});
    expect_same_tree<float, 3>(PointsView(narrow, 3), Box{}, {.leaf_size = 3});
}

// Strides of every kind, and wide gaps.
TEST_F(TreeOnDeviceAlone, ReadsEveryLayout) {
    const std::vector<float> numbers = uniform_points<float>(400, 3, 0, 1, 8);
    const auto last = static_cast<std::ptrdiff_t>(numbers.size()) - 1;
    const std::vector<PointsView> views{{numbers.data(), DType::float32, 400, 3, 1, 400},
                                        {numbers.data() + last, DType::float32, 400, 3, -3, -1},
                                        {numbers.data() + 5, DType::float32, 50, 3, 7, 2},
                                        {numbers.data(), DType::float32, 11, 3, 100, 1},
                                        {numbers.data() + 1, DType::float32, 30, 3, 0, 1},
                                        {numbers.data(), DType::float32, 2, 3, 1190, 3},
                                        {numbers.data(), DType::float32, 1, 3, 3, 1},
                                        {numbers.data(), DType::float32, 0, 3, 3, 1},
                                        {numbers.data() + last, DType::float32, 11, 3, -100, -5}};
    for (const PointsView& view : views) {
        SCOPED_TRACE(view.stride());
        expect_same_tree<float, 3>(view, Box{}, {.leaf_size = 3});
    }
}

template <class Place>
std::string refusal_of(const Place& place) {
    try {
        place();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST_F(TreeOnDeviceAlone, RefusesWhatTheCpuRefuses) {
    const std::vector<float> good = uniform_points<float>(100, 3, 0, 1, 8);
    const auto with = [&](std::size_t place, float value) {
        std::vector<float> changed = good;
        changed[place] = value;
        return changed;
    };
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const auto& [points, box] : {std::pair{with(200, nan), Box{}}, std::pair{with(7, -infinity), Box{}},
                                      std::pair{with(8, 3), Box::periodic(1)}, std::pair{good, Box::periodic(-1)},
                                      std::pair{good, Box::periodic(1).with_origin(1, 1e30)}}) {
        const PointsView view(points, 3);
        const std::string expected = refusal_of([&] { (void)detail::normalize_sources<float>(view, box); });
        EXPECT_NE(expected, "nothing was refused");
        EXPECT_EQ(refusal_of([&] {
                      DeviceContext context(cuda());
                      const detail::PointsOnDevice there(context, view);
                      (void)detail::normalize_sources_on_device<float, 3>(context, there.view(), box);
                  }),
                  expected);
    }
    const auto frame = detail::normalize_sources<float>(PointsView(good, 3), Box{}).frame;
    for (const auto& queries : {with(13, nan), with(14, 1e30F)}) {
        const PointsView view(queries, 3);
        const std::string expected = refusal_of([&] { (void)detail::normalize_queries<float>(view, frame); });
        EXPECT_NE(expected, "nothing was refused");
        EXPECT_EQ(refusal_of([&] {
                      DeviceContext context(cuda());
                      const detail::PointsOnDevice there(context, view);
                      (void)detail::normalize_queries_on_device<float, 3>(context, there.view(), frame);
                  }),
                  expected);
    }
}

template <int D>
detail::DevicePlaneTree<float> tree_of(DeviceContext& context, const std::vector<float>& points, TreeShape shape) {
    return detail::build_device_tree<float, D>(context, PointsView(points, D), Box{}, shape);
}

struct IndexOfPoint {
    const std::int32_t* indices;
    __device__ std::int32_t operator()(std::int32_t position) const { return indices[position]; }
};

struct LesserIndex {
    static constexpr std::int32_t identity = std::numeric_limits<std::int32_t>::max();
    __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return std::min(a, b); }
};

// With few children of a node, and with far more than share them.
TEST_F(TreeOnDeviceAlone, AttributesAreOfAllThatIsBelow) {
    const std::vector<float> points = uniform_points<float>(3000, 3, 0, 1, 8);
    for (const int coarsening : {2, 8, 1000}) {
        DeviceContext context(cuda());
        const auto tree = tree_of<3>(context, points, {.leaf_size = 3, .coarsening = coarsening, .top_size = 1});
        const auto least = detail::node_attributes<std::int32_t>(
            context, tree.view(), IndexOfPoint{tree.points.indices.data()}, LesserIndex{});
        for (std::size_t plane = 0; plane < tree.planes.size(); ++plane) {
            const std::int64_t nodes = tree.planes[plane].nodes;
            EXPECT_EQ(context.to_host(least.planes[plane], nodes),
                      context.to_host(tree.planes[plane].smallest_index.data(), nodes));
        }
    }
}

TEST_F(TreeOnDeviceAlone, BlocksOfLeavesAreFullAndHoldAllPoints) {
    for (const auto& [name, leaf_size] : {std::pair{"clustered", 32}, {"clustered", 1}, {"coincident", 32}}) {
        const std::vector<float> points = point_set<float>(name, 3).coordinates;
        DeviceContext context(cuda());
        const auto tree = tree_of<3>(context, points, {.leaf_size = leaf_size});
        const std::int64_t leaves = tree.planes[0].nodes;
        const auto first_point = context.to_host(tree.planes[0].first_point.data(), leaves + 1);
        for (const std::int64_t max_points : {1, 31, 32, 33, 100, 1'000'000}) {
            SCOPED_TRACE(std::string(name) + ", at most " + std::to_string(max_points));
            const std::vector<detail::LeafRange> blocks = detail::leaf_blocks(context, tree, max_points);
            std::int32_t leaf = 0;
            for (const detail::LeafRange& block : blocks) {
                EXPECT_EQ(block.first_leaf, leaf);
                ASSERT_GT(block.end_leaf, leaf);
                ASSERT_LE(block.end_leaf, leaves);
                leaf = block.end_leaf;
                EXPECT_EQ(block.first_point, first_point[static_cast<std::size_t>(block.first_leaf)]);
                EXPECT_EQ(block.end_point, first_point[static_cast<std::size_t>(block.end_leaf)]);
                EXPECT_TRUE(block.end_leaf - block.first_leaf == 1 ||
                            block.end_point - block.first_point <= max_points);
            }
            EXPECT_EQ(leaf, leaves);
            const std::int64_t least_points = std::max<std::int64_t>(1, max_points - 31);
            EXPECT_LE(std::ssize(blocks), first_point.back() / least_points + 1);
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

} // namespace
} // namespace kith::test
