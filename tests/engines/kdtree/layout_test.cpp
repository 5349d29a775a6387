// The arithmetic of left-balanced trees against counting, node by node, for every small tree; and at the top of the
// range, where 32 bits do not hold all sums.
#include "engines/kdtree/plain_build.hpp"

#include <kith/device/kdtree_layout.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

using kdtree::Node;

/// Nodes in the order left subtree, node, right subtree.
void append_in_order(Node node, Node count, std::vector<Node>& sequence) {
    if (node < count) {
        append_in_order(2 * node + 1, count, sequence);
        sequence.push_back(node);
        append_in_order(2 * node + 2, count, sequence);
    }
}

TEST(TreeLayout, IsThatOfCounting) {
    for (Node count = 1; count <= 300; ++count) {
        std::vector<Node> sequence;
        append_in_order(0, count, sequence);
        Node begin = 0; // of the segment of a node
        Node level_begins = 0;
        int level = 0;
        for (Node node = 0; node < count; ++node) {
            if (node == 2 * level_begins + 1) {
                level_begins = node;
                begin = node; // all nodes above come first
                ++level;
            }
            ASSERT_EQ(kdtree::level_of(node), level);
            ASSERT_EQ(kdtree::first_of_level(level), level_begins);
            ASSERT_EQ(kdtree::subtree_size(node, count), counted_size(node, count)) << node << " of " << count;
            ASSERT_EQ(kdtree::segment_begin(node, count), begin) << node << " of " << count;
            ASSERT_EQ(kdtree::pivot_position(node, count), begin + counted_size(2 * node + 1, count));
            ASSERT_EQ(kdtree::node_in_order(node, count), sequence[node]) << node << " of " << count;
            begin += static_cast<Node>(counted_size(node, count));
        }
        ASSERT_EQ(kdtree::levels_of(count), level + 1);
        ASSERT_EQ(kdtree::subtree_size(count, count), 0U);
        ASSERT_EQ(kdtree::subtree_size(2 * count + 1, count), 0U);
    }
    EXPECT_EQ(kdtree::levels_of(0), 0);
    EXPECT_EQ(kdtree::subtree_size(0, 0), 0U);
}

TEST(TreeLayout, HoldsAtTheTopOfTheRange) {
    for (const Node count : {kdtree::max_nodes, kdtree::max_nodes - 1, Node{1} << 30, (Node{1} << 30) + 1,
                             (Node{1} << 30) - 1, Node{0x60000001}}) {
        EXPECT_EQ(kdtree::subtree_size(0, count), count);
        const Node last = count - 1;
        EXPECT_EQ(kdtree::subtree_size(last, count), 1U);
        EXPECT_EQ(kdtree::subtree_size(kdtree::right_child(last), count), 0U);
        for (Node node = last; node > 0; node = kdtree::parent_of(node)) {
            const Node parent = kdtree::parent_of(node);
            EXPECT_EQ(kdtree::subtree_size(parent, count),
                      1 + kdtree::subtree_size(kdtree::left_child(parent), count) +
                          kdtree::subtree_size(kdtree::right_child(parent), count));
            const Node next = node + 1; // in its level, segments follow one another
            if (next < count && kdtree::level_of(next) == kdtree::level_of(node)) {
                EXPECT_EQ(kdtree::segment_begin(next, count),
                          kdtree::segment_begin(node, count) + kdtree::subtree_size(node, count));
            }
        }
        EXPECT_EQ(kdtree::levels_of(count), kdtree::level_of(last) + 1);
        EXPECT_EQ(kdtree::pivot_position(0, count), kdtree::subtree_size(1, count));
        EXPECT_EQ(kdtree::node_in_order(kdtree::subtree_size(1, count), count), 0U);
        Node rightmost = 0;
        while (kdtree::right_child(rightmost) < count) {
            rightmost = kdtree::right_child(rightmost);
        }
        const Node left_of_it = kdtree::subtree_size(kdtree::left_child(rightmost), count);
        EXPECT_EQ(kdtree::node_in_order(last, count), rightmost);
        EXPECT_LE(left_of_it, 1U);
        EXPECT_EQ(kdtree::node_in_order(0, count), kdtree::first_of_level(kdtree::levels_of(count) - 1));
    }
}

} // namespace
} // namespace kith::test
