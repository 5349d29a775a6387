// Walks of a user's own over the planes of a kept tree: whatever receives, whichever plane the tasks are of, and with
// one tree or two, every point, or pair, is dropped, taken or left to a leaf exactly once, bounds hold for all that is
// below, and counts are those of plain loops. Where the contract's numbers need no scaling, they are the library's.
#include "walk/own_walks.hpp"

#include <kith/pair_counts.hpp>
#include <kith/radius.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>

namespace kith::test {
namespace {

using walk::Node;
using walk::NodeBox;
using walk::Step;
using walk::TreeView;

/// Squared radii of interest: 0, of pairs that occur, of all, and one that nothing reaches.
template <class T, int D>
std::vector<T> radii_in(const TreeView<T, D>& tree) {
    std::vector<T> radii{0, std::numeric_limits<T>::infinity()};
    for (const std::int32_t other : {1, tree.count / 20, tree.count / 2}) {
        if (other < tree.count) {
            const T exact = plain_distance(tree, 0, tree, other);
            radii.push_back(exact);
            radii.push_back(std::nextafter(exact, T{0}));
        }
    }
    return radii;
}

/// Counts the sources within a radius of each receiver, which are sorted points in a box.
template <class T, int D>
struct CountPolicy {
    const TreeView<T, D>& receivers;
    const TreeView<T, D>& sources;
    std::int32_t first;
    std::int32_t end;
    NodeBox<T, D> box;
    T squared;
    std::vector<std::int64_t>& counts;
    std::int32_t next = 0; ///< the first source that was not met yet

    void meet(Node node) {
        ASSERT_EQ(sources.first_point(node), next) << "plane " << node.plane << ", node " << node.index;
        next = sources.end_point(node);
    }
    Step step(Node node) {
        if (sources.space.least(box, sources.box(node)) > squared) {
            meet(node);
            return Step::drop;
        }
        return sources.space.greatest(box, sources.box(node)) <= squared ? Step::take : Step::open;
    }
    void take(Node node) {
        meet(node);
        for (std::int32_t i = first; i < end; ++i) {
            counts[i] += sources.points_in(node);
        }
    }
    void leaf(Node node) {
        meet(node);
        for (std::int32_t i = first; i < end; ++i) {
            for (std::int32_t j = sources.first_point(node); j < sources.end_point(node); ++j) {
                counts[i] += sources.space.squared_distance(receivers.point(i), sources.point(j)) <= squared ? 1 : 0;
            }
        }
    }
};

template <class T, int D>
std::vector<std::int64_t> plain_counts(const TreeView<T, D>& receivers, const TreeView<T, D>& sources, T squared) {
    std::vector<std::int64_t> counts(receivers.count);
    for (std::int32_t i = 0; i < receivers.count; ++i) {
        for (std::int32_t j = 0; j < sources.count; ++j) {
            counts[i] += plain_distance(receivers, i, sources, j) <= squared ? 1 : 0;
        }
    }
    return counts;
}

template <class T, int D>
void check_receivers(const TreeView<T, D>& receivers, const TreeView<T, D>& sources) {
    for (const T squared : radii_in(receivers)) {
        const std::vector<std::int64_t> expected = plain_counts(receivers, sources, squared);
        std::vector<std::int64_t> counts(receivers.count);
        const auto walk_for = [&](std::int32_t first, std::int32_t end, const NodeBox<T, D>& box) {
            CountPolicy<T, D> policy{receivers, sources, first, end, box, squared, counts};
            walk::receive(sources, policy);
            ASSERT_EQ(policy.next, sources.count);
        };
        for (int plane = 0; plane < receivers.plane_count; ++plane) {
            std::ranges::fill(counts, 0);
            for (const Node node : walk::nodes_of(receivers, plane)) {
                walk_for(receivers.first_point(node), receivers.end_point(node), receivers.box(node));
            }
            ASSERT_EQ(counts, expected) << "receivers of plane " << plane;
        }
        std::ranges::fill(counts, 0);
        for (std::int32_t i = 0; i < receivers.count; ++i) {
            walk_for(i, i + 1, walk::box_of(receivers.point(i)));
        }
        ASSERT_EQ(counts, expected) << "single points";
    }
}

/// Counts pairs within a radius, and how often any two points were met.
template <class T, int D>
struct PairPolicy {
    const TreeView<T, D>& tree;
    const TreeView<T, D>& others;
    T squared;
    std::vector<int>& times; ///< of point i of the tree and j of the others
    std::int64_t near = 0;

    void meet(std::int32_t i, std::int32_t j) { ++times[static_cast<std::size_t>(i) * others.count + j]; }
    template <class Visit>
    void each(Node a, Node b, const Visit& visit) {
        const bool is_within = &tree == &others && a == b;
        for (std::int32_t i = tree.first_point(a); i < tree.end_point(a); ++i) {
            for (std::int32_t j = is_within ? i : others.first_point(b); j < others.end_point(b); ++j) {
                meet(i, j);
                visit(i, j);
            }
        }
    }
    Step step(Node a, Node b) {
        if (tree.space.least(tree.box(a), others.box(b)) > squared) {
            each(a, b, [](std::int32_t, std::int32_t) {});
            return Step::drop;
        }
        return tree.space.greatest(tree.box(a), others.box(b)) <= squared ? Step::take : Step::open;
    }
    void take(Node a, Node b) {
        each(a, b, [&](std::int32_t, std::int32_t) { ++near; });
    }
    void leaf(Node a, Node b) {
        ASSERT_TRUE(a.plane == 0 && b.plane == 0);
        each(a, b, [&](std::int32_t i, std::int32_t j) {
            near += tree.space.squared_distance(tree.point(i), others.point(j)) <= squared ? 1 : 0;
        });
    }
};

template <class T, int D>
void check_pairs(const TreeView<T, D>& tree, const TreeView<T, D>& others) {
    const bool is_one = &tree == &others;
    for (const T squared : radii_in(tree)) {
        std::int64_t expected = 0;
        for (std::int32_t i = 0; i < tree.count; ++i) {
            for (std::int32_t j = is_one ? i : 0; j < others.count; ++j) {
                expected += plain_distance(tree, i, others, j) <= squared ? 1 : 0;
            }
        }
        for (int plane = 0; plane < tree.plane_count; ++plane) {
            std::vector<int> times(static_cast<std::size_t>(tree.count) * others.count);
            PairPolicy<T, D> policy{tree, others, squared, times};
            for (const Node task : walk::nodes_of(tree, plane)) {
                if (is_one) {
                    walk::pairs(tree, task, policy);
                } else {
                    walk::pairs(tree, others, task, policy);
                }
            }
            ASSERT_EQ(policy.near, expected) << "tasks of plane " << plane << ", squared radius " << squared;
            std::int64_t wrong = 0;
            for (std::int32_t i = 0; i < tree.count; ++i) {
                for (std::int32_t j = is_one ? i : 0; j < others.count; ++j) {
                    const int mirrored = is_one && i != j ? times[static_cast<std::size_t>(j) * others.count + i] : 0;
                    wrong += times[static_cast<std::size_t>(i) * others.count + j] + mirrored != 1 ? 1 : 0;
                }
            }
            ASSERT_EQ(wrong, 0) << "pairs were not met once, tasks of plane " << plane;
        }
    }
}

class OwnWalks : public testing::TestWithParam<Case> {};

TEST_P(OwnWalks, MeetEverythingOnceAndCountAsPlainLoopsDo) {
    with_case(GetParam(), [&]<class T, int D>(T, std::integral_constant<int, D>) {
        const PointSet<T> set = point_set<T>(GetParam().set, D);
        const std::vector<T> points = some_of(set, sized(80));
        const std::vector<T> other_points = some_of(set, sized(30), 1);
        for (const NamedBox& named : set.boxes) {
            for (const TreeShape& shape : shapes_of_walks) {
                SCOPED_TRACE(named.name + ", leaf_size " + std::to_string(shape.leaf_size));
                const Tree tree(PointsView(points, D), {.box = named.box, .shape = shape, .execution = cpu(1)});
                const Tree other(PointsView(other_points, D),
                                 {.box = tree.box(), .shape = {2, 3, 1, 0}, .execution = cpu(1)});
                const walk::Planes<T, D> planes(tree);
                const walk::Planes<T, D> other_planes(other);
                const TreeView<T, D> view = planes.view();
                const TreeView<T, D> other_view = other_planes.view();
                check_receivers(view, view);
                check_receivers(other_view, view);
                check_pairs(view, view);
                check_pairs(view, other_view);
                ASSERT_FALSE(HasFatalFailure());
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, OwnWalks, testing::ValuesIn(cases_of_walks()), case_name);

class OwnWalksInTheLibrary : public testing::TestWithParam<Case> {};

TEST_P(OwnWalksInTheLibrary, CountWhatItCounts) {
    with_case(GetParam(), [&]<class T, int D>(T, std::integral_constant<int, D>) {
        const PointSet<T> set = point_set<T>(GetParam().set, D);
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            const Tree tree(set.view(), {.box = named.box, .shape = {6, 3, 4, 0}, .execution = cpu(1)});
            const walk::Planes<T, D> planes(tree);
            const TreeView<T, D> view = planes.view();
            const double radius = set.extent() / 7;
            const T squared = walk::squared_radius<T>(radius);

            std::vector<std::int64_t> sorted(view.count);
            for (const Node leaf : walk::nodes_of(view, 0)) {
                CountPolicy<T, D> policy{view,    view,  view.first_point(leaf), view.end_point(leaf), view.box(leaf),
                                         squared, sorted};
                walk::receive(view, policy);
            }
            std::vector<std::int64_t> counts(view.count);
            for (std::int32_t i = 0; i < view.count; ++i) {
                counts[view.order[i]] = sorted[i];
            }
            EXPECT_EQ(counts, radius_count(tree, radius).counts);

            std::vector<int> times(static_cast<std::size_t>(view.count) * view.count);
            PairPolicy<T, D> policy{view, view, squared, times};
            for (const Node task : walk::nodes_of(view, view.plane_of_tasks(3))) {
                walk::pairs(view, task, policy);
            }
            const PairCounts expected = pair_counts(tree, std::array{0.0, radius});
            EXPECT_EQ(policy.near - view.count, expected.counts[0]); // without those of a point with itself
        }
    });
}

INSTANTIATE_TEST_SUITE_P(WhereNumbersAreNotScaled, OwnWalksInTheLibrary,
                         testing::ValuesIn(cases_of({"uniform", "mixed_signs", "clustered", "lattice", "coincident"})),
                         case_name);

class OwnPlanes : public NeedsDimension<3> {};

TEST_F(OwnPlanes, MayBeReadFromACopyOfTheirBytes) {
    const std::vector<float> points = uniform_points<float>(400, 3, -1, 2, 7);
    const Tree tree(PointsView(points, 3), {.box = Box::periodic(4), .shape = {4, 3, 2, 0}});
    const walk::Planes<float, 3> planes(tree);
    std::vector<std::uint64_t> copy(planes.bytes().size() / sizeof(std::uint64_t));
    std::memcpy(copy.data(), planes.bytes().data(), planes.bytes().size());
    const TreeView<float, 3> view = planes.view_at(copy.data());
    const auto* const begin = reinterpret_cast<const std::byte*>(copy.data());
    const auto* const end = begin + planes.bytes().size();
    for (const void* array : {static_cast<const void*>(view.coordinates), static_cast<const void*>(view.order),
                              static_cast<const void*>(view.planes[1].first_child),
                              static_cast<const void*>(view.planes[view.plane_count - 1].boxes)}) {
        EXPECT_TRUE(array >= begin && array < end);
    }
    check_pairs(view, view);
}

TEST_F(OwnPlanes, KnowTheirParents) {
    const std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 8);
    const Tree tree(PointsView(points, 3), {.shape = {2, 2, 3, 0}});
    const walk::Planes<float, 3> planes(tree);
    const TreeView<float, 3> view = planes.view();
    std::int32_t number = 0;
    for (int plane = 0; plane < view.plane_count; ++plane) {
        for (const Node node : walk::nodes_of(view, plane)) {
            EXPECT_EQ(view.number(node), number++);
            if (plane + 1 < view.plane_count) {
                const Node parent = view.parent(node);
                EXPECT_TRUE(view.first_child(parent) <= node.index && node.index < view.end_child(parent));
            }
        }
    }
    EXPECT_EQ(view.nodes(), number);
    EXPECT_EQ(view.plane_of_tasks(1), view.plane_count - 1);
    EXPECT_EQ(view.plane_of_tasks(1000000), 0);
    EXPECT_GE(view.planes[view.plane_of_tasks(40)].nodes, 40);
    EXPECT_LT(view.planes[view.plane_of_tasks(40) + 1].nodes, 40);
}

TEST_F(OwnPlanes, AreOfTreesOfTheirOwnKindOnly) {
    const std::vector<float> points = uniform_points<float>(40, 3, 0, 1, 9);
    const Tree tree(PointsView(points, 3));
    const Tree index(PointsView(points, 3), {.engine = Engine::kdtree});
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"float32", "float64"}, [&] { walk::Planes<double, 3>{tree}; }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"3 coordinates", "planes of 2"},
                           [&] { walk::Planes<float, 2>{tree}; }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"kdtree"}, [&] { walk::Planes<float, 3>{index}; }));
}

} // namespace
} // namespace kith::test
