// The pair walk meets every two leaves at most once, and all that hold points within reach, whichever plane is the
// tasks', for every instruction set. A policy that counts what it is given stands for friends-of-friends.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "walk/pair_walk_test.cpp"
#include <hwy/foreach_target.h> // must come before highway.h

#include "walk/pair_walk-inl.hpp"

#ifndef KITH_TESTS_WALK_MEETINGS
#define KITH_TESTS_WALK_MEETINGS
namespace kith::test {

/// How often leaves were met, by leaf and other leaf, the earlier one first.
struct Meetings {
    explicit Meetings(std::int64_t count) : leaves(count), times(static_cast<std::size_t>(count * count), 0) {}
    void meet(std::int64_t leaf, std::int64_t other) {
        ++times[std::min(leaf, other) * leaves + std::max(leaf, other)];
    }
    std::int64_t leaves;
    std::vector<int> times;
};

} // namespace kith::test
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

class CountingPolicy {
public:
    CountingPolicy(const TreeView<float>& tree, float reach, test::Meetings& meetings)
        : tree_(tree), reach_(reach), meetings_(meetings) {}

    struct PairBounds {};

    /// Least and greatest squared distances.
    template <bool Periodic, class Tag, class V = hn::Vec<Tag>>
    [[nodiscard]] Bounds<V> bounds(Tag tag, const Receiver<float, 3>& box, const Columns<Tag>& lower,
                                   const Columns<Tag>& upper) const {
        return box_distances<Periodic, 3>(tag, box, lower, upper, Bounds<V>{hn::Zero(tag), hn::Zero(tag)});
    }
    template <class Tag, class V = hn::Vec<Tag>>
    [[nodiscard]] auto are_near(Tag tag, const Bounds<V>& bounds) const {
        return hn::Le(bounds.least, hn::Set(tag, reach_));
    }
    template <class Tag, class V = hn::Vec<Tag>>
    [[nodiscard]] auto are_whole(Tag tag, const Bounds<V>& bounds) const {
        return hn::Le(bounds.greatest, hn::Set(tag, reach_));
    }
    template <class Tag, class V = hn::Vec<Tag>>
    [[nodiscard]] std::array<PairBounds, hn::MaxLanes(Tag())> keep(Tag /*tag*/, const Bounds<V>& /*bounds*/) const {
        return {};
    }
    void take_node(int level, std::int32_t node, PairBounds /*bounds*/) {
        for (std::int32_t leaf = first_leaf(level, node); leaf < first_leaf(level, node + 1); ++leaf) {
            for (std::int32_t other = leaf; other < first_leaf(level, node + 1); ++other) {
                meetings_.meet(leaf, other);
            }
        }
    }
    template <bool Periodic>
    void finish_leaf(std::int32_t leaf, PairBounds /*bounds*/) {
        meetings_.meet(leaf, leaf);
    }
    void leave_node(int, std::int32_t) {}
    void take_pair(int level, std::int32_t node, std::int32_t other, PairBounds /*bounds*/) {
        for (std::int32_t leaf = first_leaf(level, node); leaf < first_leaf(level, node + 1); ++leaf) {
            for (std::int32_t of_other = first_leaf(level, other); of_other < first_leaf(level, other + 1);
                 ++of_other) {
                meetings_.meet(leaf, of_other);
            }
        }
    }
    [[nodiscard]] bool can_end_early(int, std::int32_t, std::int32_t) const { return false; }
    [[nodiscard]] bool has_ended(int, std::int32_t, std::int32_t) const { return false; }
    template <bool Periodic>
    void finish_leaf_pair(std::int32_t leaf, std::int32_t other, PairBounds /*bounds*/) {
        meetings_.meet(leaf, other);
    }

private:
    [[nodiscard]] std::int32_t first_leaf(int level, std::int32_t node) const {
        for (; level > 0; --level) {
            node = tree_.planes[level].first_child[node];
        }
        return node;
    }

    const TreeView<float>& tree_;
    float reach_;
    test::Meetings& meetings_;
};

template <bool Periodic>
void walk_in(const TreeView<float>& tree, int tasks, float reach, test::Meetings& meetings) {
    CountingPolicy policy(tree, reach, meetings);
    PairWalk<float, 3, Periodic, CountingPolicy> walk(tree, policy);
    for (std::int32_t node = 0; node < tree.planes[tasks].nodes; ++node) {
        walk.within(tasks, node);
        walk.with_later(tasks, node);
    }
}

void walk_any(const TreeView<float>& tree, bool periodic, int tasks, float reach, test::Meetings& meetings) {
    periodic ? walk_in<true>(tree, tasks, reach, meetings) : walk_in<false>(tree, tasks, reach, meetings);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "engines/kept_index.hpp"
#include "simd/only_target.hpp"
#include "support/cases.hpp"

#include <kith/tree.hpp>

namespace kith::detail {
HWY_EXPORT(walk_any);

namespace {

void walk(const TreeView<float>& tree, bool periodic, int tasks, float reach, test::Meetings& meetings) {
    HWY_DYNAMIC_DISPATCH(walk_any)(tree, periodic, tasks, reach, meetings);
}

} // namespace
} // namespace kith::detail

namespace kith::test {
namespace {

float squared_distance(const detail::TreeView<float>& tree, std::int64_t i, std::int64_t j) {
    float sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const float t = std::abs(tree.points.axis(axis)[i] - tree.points.axis(axis)[j]);
        const float shorter = std::min(t, tree.period[static_cast<std::size_t>(axis)] - t);
        sum = axis == 0 ? shorter * shorter : std::fma(shorter, shorter, sum);
    }
    return sum;
}

/// Leaves that must be met: they hold two points within reach, or are one.
std::vector<bool> wanted_meetings(const detail::TreeView<float>& tree, float reach) {
    const detail::PlaneView<float>& leaves = tree.planes[0];
    std::vector<bool> wanted(static_cast<std::size_t>(leaves.nodes) * static_cast<std::size_t>(leaves.nodes));
    for (std::int64_t leaf = 0; leaf < leaves.nodes; ++leaf) {
        for (std::int64_t other = leaf; other < leaves.nodes; ++other) {
            bool near = leaf == other;
            for (std::int64_t i = leaves.first_point[leaf]; !near && i < leaves.first_point[leaf + 1]; ++i) {
                for (std::int64_t j = leaves.first_point[other]; !near && j < leaves.first_point[other + 1]; ++j) {
                    near = squared_distance(tree, i, j) <= reach;
                }
            }
            wanted[static_cast<std::size_t>(leaf * leaves.nodes + other)] = near;
        }
    }
    return wanted;
}

/// Walks with each plane as that of the tasks, by every instruction set.
void check_walks(const detail::TreeView<float>& tree, bool periodic, float reach) {
    const std::vector<bool> wanted = wanted_meetings(tree, reach);
    const std::int64_t leaves = tree.planes[0].nodes;
    for (const std::int64_t target : targets()) {
        const OnlyTarget only(target);
        for (int tasks = 0; tasks <= tree.top; ++tasks) {
            Meetings meetings(leaves);
            detail::walk(tree, periodic, tasks, reach, meetings);
            for (std::size_t pair = 0; pair < meetings.times.size(); ++pair) {
                ASSERT_LE(meetings.times[pair], 1)
                    << "tasks on plane " << tasks << ", leaves " << static_cast<std::int64_t>(pair) / leaves << " and "
                    << static_cast<std::int64_t>(pair) % leaves;
                ASSERT_TRUE(meetings.times[pair] == 1 || !wanted[pair])
                    << "tasks on plane " << tasks << ", leaves " << static_cast<std::int64_t>(pair) / leaves << " and "
                    << static_cast<std::int64_t>(pair) % leaves << " did not meet";
            }
        }
    }
}

class PairWalks : public testing::TestWithParam<std::string> {};

TEST_P(PairWalks, MeetEveryTwoNearLeavesOnce) {
    if (!is_built(3)) {
        GTEST_SKIP() << "dimension 3 is not built";
    }
    const PointSet<float> set = point_set<float>(GetParam(), 3);
    for (const NamedBox& named : set.boxes) {
        for (const TreeShape& shape : {TreeShape{2, 2, 1, 0}, TreeShape{3, 3, 8, 50}, TreeShape{8, 4, 2, 1}}) {
            const Tree built(set.view(), {.box = named.box, .shape = shape, .execution = cpu(1)});
            const auto& tree = built.data().as<float>().tree;
            if (tree.points.count < 2) {
                continue;
            }
            const detail::TreeView<float> view = tree.view();
            for (const std::int64_t point : {std::int64_t{1}, tree.points.count / 20, tree.points.count / 2}) {
                SCOPED_TRACE(named.name);
                check_walks(view, tree.points.frame.periodic, squared_distance(view, 0, point));
                ASSERT_FALSE(HasFatalFailure());
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(EverySet, PairWalks, testing::ValuesIn(point_set_names()),
                         [](const auto& name) { return name.param; });

} // namespace
} // namespace kith::test
#endif
