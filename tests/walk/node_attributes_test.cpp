// Attributes of the nodes of a kept tree: reductions of a user's own, and cells, whose levels are the oracle's (equation
// 5 of the jz-tree paper).
#include "oracle/z_order.hpp"
#include "walk/own_walks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kith::test {
namespace {

using walk::Node;
using walk::TreeView;

class NodeAttributes : public testing::TestWithParam<Case> {};

/// The sum of original indices, and the box again, made of points.
template <class T, int D>
struct Summary {
    std::int64_t indices = 0;
    walk::NodeBox<T, D> box;
};

template <class T, int D>
struct Summarize {
    const TreeView<T, D>& tree;

    void add(Summary<T, D>& sum, const Summary<T, D>& other) const {
        sum.indices += other.indices;
        for (int axis = 0; axis < D; ++axis) {
            sum.box.lower[axis] = std::min(sum.box.lower[axis], other.box.lower[axis]);
            sum.box.upper[axis] = std::max(sum.box.upper[axis], other.box.upper[axis]);
        }
    }
    Summary<T, D> leaf(Node node) const {
        const std::int32_t first = tree.first_point(node);
        Summary<T, D> sum{0, walk::box_of(tree.point(first))};
        for (std::int32_t i = first; i < tree.end_point(node); ++i) {
            add(sum, {tree.order[i], walk::box_of(tree.point(i))});
        }
        return sum;
    }
    Summary<T, D> join(Node node, const Summary<T, D>* children, std::int32_t count) const {
        EXPECT_EQ(count, tree.end_child(node) - tree.first_child(node));
        Summary<T, D> sum = children[0];
        for (std::int32_t i = 1; i < count; ++i) {
            add(sum, children[i]);
        }
        return sum;
    }
};

TEST_P(NodeAttributes, AreOfAllPointsBelow) {
    with_case(GetParam(), [&]<class T, int D>(T, std::integral_constant<int, D>) {
        const PointSet<T> set = point_set<T>(GetParam().set, D);
        const Tree tree(set.view(), {.box = set.boxes.back().box, .shape = {4, 3, 2, 0}, .execution = cpu(1)});
        const walk::Planes<T, D> planes(tree);
        const TreeView<T, D> view = planes.view();
        const auto backwards = [](std::int32_t count, const auto& body) {
            while (count-- > 0) {
                body(count);
            }
        };
        const auto found = walk::reduce<Summary<T, D>>(view, Summarize<T, D>{view}, backwards);
        ASSERT_EQ(std::ssize(found), view.nodes());
        for (int plane = 0; plane < view.plane_count; ++plane) {
            const NodeBoxes<T> boxes = tree.node_boxes<T>(plane);
            for (const Node node : walk::nodes_of(view, plane)) {
                const Summary<T, D>& summary = found[view.number(node)];
                std::int64_t indices = 0;
                for (std::int32_t i = view.first_point(node); i < view.end_point(node); ++i) {
                    indices += tree.order()[i];
                }
                ASSERT_EQ(summary.indices, indices);
                for (int axis = 0; axis < D; ++axis) {
                    ASSERT_EQ(summary.box.lower[axis], boxes.lower[node.index * D + axis]);
                    ASSERT_EQ(summary.box.upper[axis], boxes.upper[node.index * D + axis]);
                    ASSERT_EQ(view.box(node).lower[axis], boxes.lower[node.index * D + axis]);
                    ASSERT_EQ(view.box(node).upper[axis], boxes.upper[node.index * D + axis]);
                }
            }
        }
    });
}

/// Level of the smallest cell of two sorted points: the oracle's, but numbers of different sign differ just above the
/// largest.
template <class T, int D>
int level_of(const TreeView<T, D>& tree, std::int32_t i, std::int32_t j, int sign_exponent) {
    const walk::Point<T, D> p = tree.point(i);
    const walk::Point<T, D> q = tree.point(j);
    const int axis = oracle::deciding_axis(p.x, q.x, D);
    if (axis < 0) {
        return std::numeric_limits<int>::min();
    }
    const int bit = oracle::most_significant_difference(p[axis], q[axis]);
    return ((bit == std::numeric_limits<T>::max_exponent ? sign_exponent : bit) + 1) * D - axis;
}

TEST_P(NodeAttributes, CellsAreTheLargestOfTheirPoints) {
    with_case(GetParam(), [&]<class T, int D>(T, std::integral_constant<int, D>) {
        constexpr int of_a_point = std::numeric_limits<int>::min();
        const PointSet<T> set = point_set<T>(GetParam().set, D);
        const Tree tree(set.view(), {.box = set.boxes.front().box, .shape = {4, 3, 2, 50}, .execution = cpu(1)});
        const walk::Planes<T, D> planes(tree);
        const TreeView<T, D> view = planes.view();
        T largest = 0;
        for (const T x : tree.template points<T>()) {
            largest = std::max(largest, std::abs(x));
        }
        const int sign_exponent = largest > 0 ? std::ilogb(largest) + 1 : 0;
        const auto cells = walk::cells_of(view);
        ASSERT_EQ(std::ssize(cells), view.nodes());
        for (int plane = 0; plane < view.plane_count; ++plane) {
            const std::vector<Node> nodes = walk::nodes_of(view, plane);
            for (const Node node : nodes) {
                SCOPED_TRACE("plane " + std::to_string(plane) + ", node " + std::to_string(node.index));
                const walk::Cell<T, D>& cell = cells[view.number(node)];
                const std::int32_t first = view.first_point(node);
                const std::int32_t end = view.end_point(node);
                int parent = std::numeric_limits<int>::max();
                if (first > 0) {
                    parent = std::min(parent, level_of(view, first - 1, first, sign_exponent));
                }
                if (end < view.count) {
                    parent = std::min(parent, level_of(view, end - 1, end, sign_exponent));
                }
                if (parent == std::numeric_limits<int>::max()) {
                    ASSERT_EQ(cell.level, level_of(view, 0, view.count - 1, sign_exponent));
                } else {
                    ASSERT_EQ(cell.level, parent == of_a_point ? of_a_point : parent - 1);
                }
                for (int axis = 0; axis < D; ++axis) {
                    ASSERT_LE(cell.bounds.lower[axis], view.box(node).lower[axis]);
                    ASSERT_GE(cell.bounds.upper[axis], view.box(node).upper[axis]);
                    ASSERT_LE(cell.bounds.lower[axis], cell.center()[axis]);
                    ASSERT_GE(cell.bounds.upper[axis], cell.center()[axis]);
                }
                for (const Node other : nodes) { // cells of a plane share edges, not insides
                    bool overlap = other.index != node.index && cell.level != of_a_point;
                    for (int axis = 0; axis < D; ++axis) {
                        const auto& bounds = cells[view.number(other)].bounds;
                        overlap = overlap && bounds.lower[axis] < cell.bounds.upper[axis] &&
                                  cell.bounds.lower[axis] < bounds.upper[axis];
                    }
                    ASSERT_FALSE(overlap) << "with that of node " << other.index;
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, NodeAttributes, testing::ValuesIn(cases_of_walks()), case_name);

} // namespace
} // namespace kith::test
