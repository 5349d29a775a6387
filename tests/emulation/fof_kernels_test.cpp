// The kernels that link friends and number their groups, run on the CPU, where clumps are large: against what is known
// and the oracle. The suite of all searches asks the rest of them (groups/conformance_test.cpp).
#include "emulation/kernel_cases.hpp"
#include "emulation/kernel_trees.hpp"
#include "emulation/linking_lengths.hpp"

#include "groups/link_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceBuffer;
using detail::DeviceContext;
using detail::DeviceGroups;

/// What label(context, labels) finds, in the oracle's terms.
template <class Label>
oracle::Groups groups_of(std::int64_t count, const Label& label) {
    DeviceContext context(cuda());
    const DeviceBuffer<std::int32_t> labels = context.buffer<std::int32_t>(count);
    const DeviceGroups found = label(context, labels.data());
    oracle::Groups groups{context.to_host(labels.data(), count), context.to_host(found.sizes.data(), found.groups)};
    EXPECT_EQ(found.sizes.size(), found.groups);
    groups.sizes.resize(static_cast<std::size_t>(found.groups + found.singles), 1);
    return groups;
}

template <class T, int D>
oracle::Groups groups_of_tree(const detail::PlaneTree<T>& tree, T squared_length) {
    return groups_of(tree.points.count, [&](DeviceContext& context, std::int32_t* labels) {
        const detail::Frame<T>& frame = tree.points.frame;
        return detail::label_groups(context, tree.points.view(), frame.working_period, squared_length, labels,
                                    [&](const detail::DeviceUnionFind& groups, const detail::LinkFrame<T>* in_frame) {
                                        detail::link_tree<T, D>(context, tree.view(), frame.periodic, in_frame, groups);
                                    });
    });
}

testing::AssertionResult same_groups(const oracle::Groups& found, const oracle::Groups& expected) {
    if (found.sizes != expected.sizes) {
        return testing::AssertionFailure() << "found sizes " << testing::PrintToString(found.sizes) << ", not "
                                           << testing::PrintToString(expected.sizes);
    }
    const auto [label, other] = std::mismatch(found.labels.begin(), found.labels.end(), expected.labels.begin());
    return label == found.labels.end() ? testing::AssertionSuccess()
                                       : testing::AssertionFailure() << "point " << label - found.labels.begin()
                                                                     << " has label " << *label << ", not " << *other;
}

class FofKernelsAlone : public NeedsDimension<3> {};

template <class T>
detail::PlaneTree<T> tree_of(const std::vector<T>& points, const Box& box, const TreeShape& shape) {
    detail::Context context(cpu(1));
    return detail::build_plane_tree<T>(context, detail::normalize_sources<T>(PointsView(points, 3), box), shape);
}

// Each leaf looks at the top plane and no further: the pairs of so many leaves would be too many to wait for.
TEST_F(FofKernelsAlone, JoinAClumpAtOnce) {
    const std::vector<float> points(static_cast<std::size_t>(3 * sized(20000)), 0.7F);
    const TreeShape shape{.leaf_size = 16, .top_size = 8};
    const detail::PlaneTree<float> tree = tree_of(points, {}, shape);
    const oracle::Groups found = groups_of_tree<float, 3>(tree, 0);
    EXPECT_EQ(found.sizes, std::vector<std::int32_t>{static_cast<std::int32_t>(sized(20000))});
    EXPECT_EQ(found.labels, std::vector<std::int32_t>(static_cast<std::size_t>(sized(20000)), 0));
}

TEST_F(FofKernelsAlone, LinkClumpsInAThinBackground) {
    std::vector<float> points = uniform_points<float>(sized(500), 3, 0, 1, 131);
    const std::vector<float> centers = uniform_points<float>(10, 3, 0, 1, 132);
    Random random(133);
    for (std::int64_t i = 0; i < sized(700); ++i) {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            points.push_back(centers[static_cast<std::size_t>(i % 10 * 3 + axis)] +
                             static_cast<float>(0.01 * random.normal()));
        }
    }
    const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, Box::periodic(1));
    for (const double length : {0.002, 0.01, 0.05, 0.3}) {
        const oracle::Groups expected = oracle::groups(copy, length);
        for (const int leaf_size : {8, 24, 32, 33, 70}) {
            const detail::PlaneTree<float> tree = tree_of(points, Box::periodic(1), {.leaf_size = leaf_size});
            EXPECT_TRUE(
                same_groups(groups_of_tree<float, 3>(tree, squared_length_of(tree.points.frame, length)), expected))
                << length << ", leaves of " << leaf_size;
        }
    }
}

TEST_F(FofKernelsAlone, LeaveNothingOnTheDevice) {
    {
        const std::vector<double> points = uniform_points<double>(100, 3, 0, 1, 5);
        const detail::PlaneTree<double> tree = tree_of(points, {}, {});
        (void)groups_of_tree<double, 3>(tree, tree.points.frame.load_radius(0.2));
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

} // namespace
} // namespace kith::test
