// The tree of some points of a tree: these points in the same order, in the nodes that hold any, with tight boxes.
#include "engines/kept_index.hpp"
#include "support/cases.hpp"
#include "tree/subtree.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kith::test {
namespace {

using detail::Plane;
using detail::PlaneTree;

template <class T>
void expect_nodes(const PlaneTree<T>& part, const Plane<T>& plane, const Plane<T>& whole,
                  const std::vector<std::int32_t>& before) {
    std::vector<std::int32_t> starts; // of the nodes that are not empty
    for (std::int64_t node = 0; node < whole.nodes; ++node) {
        const std::int32_t start = before[static_cast<std::size_t>(whole.first_point[node])];
        if (start < before[static_cast<std::size_t>(whole.first_point[node + 1])]) {
            starts.push_back(start);
        }
    }
    starts.push_back(static_cast<std::int32_t>(part.points.count));
    ASSERT_EQ(plane.nodes, std::ssize(starts) - 1);
    for (std::int64_t node = 0; node < plane.nodes; ++node) {
        ASSERT_EQ(plane.first_point[node], starts[static_cast<std::size_t>(node)]);
        for (int axis = 0; axis < part.points.dimension(); ++axis) {
            const T* x = part.points.axis(axis);
            const auto [lower, upper] =
                std::minmax_element(x + plane.first_point[node], x + plane.first_point[node + 1]);
            ASSERT_EQ(plane.lower(axis)[node], *lower);
            ASSERT_EQ(plane.upper(axis)[node], *upper);
        }
    }
    EXPECT_EQ(plane.first_point[plane.nodes], starts.back());
}

template <class T>
void expect_subtree(const Tree& tree, const std::vector<std::uint8_t>& wanted) {
    const auto& whole = tree.data().as<T>().tree;
    detail::Context context(cpu(2));
    detail::Buffer<std::uint8_t> flags(context.memory_tracker(), tree.size());
    std::copy(wanted.begin(), wanted.end(), flags.data());
    const PlaneTree<T> part = detail::subtree(context, whole, flags);
    std::vector<std::int32_t> before{0}; // wanted points before each position
    for (std::int64_t i = 0; i < whole.points.count; ++i) {
        before.push_back(before.back() + flags[i]);
        if (flags[i] != 0) {
            const std::int64_t at = before.back() - 1;
            ASSERT_EQ(part.points.indices[at], whole.points.indices[i]);
            for (int axis = 0; axis < whole.points.dimension(); ++axis) {
                ASSERT_EQ(part.points.axis(axis)[at], whole.points.axis(axis)[i]);
            }
        }
    }
    ASSERT_EQ(part.points.count, before.back());
    if (part.points.count == 0) {
        EXPECT_TRUE(part.planes.empty());
        return;
    }
    ASSERT_EQ(part.planes.size(), whole.planes.size());
    for (std::size_t level = 0; level < whole.planes.size(); ++level) {
        expect_nodes(part, part.planes[level], whole.planes[level], before);
        for (std::int64_t node = 0; level > 0 && node <= part.planes[level].nodes; ++node) {
            const Plane<T>& below = part.planes[level - 1];
            ASSERT_EQ(below.first_point[part.planes[level].first_child[node]], part.planes[level].first_point[node]);
        }
    }
}

class Subtree : public testing::TestWithParam<Case> {};

TEST_P(Subtree, HoldsTheWantedPointsAndNoEmptyNodes) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const Tree tree(set.view(), {.shape = {.leaf_size = 3, .coarsening = 3, .top_size = 2}});
        Random draw(171);
        for (const double share : {0.0, 0.05, 0.6, 1.0}) {
            std::vector<std::uint8_t> wanted(static_cast<std::size_t>(set.count()));
            std::generate(wanted.begin(), wanted.end(), [&] { return draw.uniform() < share ? 1 : 0; });
            expect_subtree<T>(tree, wanted);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, Subtree, testing::ValuesIn(cases_of({"uniform", "clustered", "coincident"})),
                         case_name);

} // namespace
} // namespace kith::test
