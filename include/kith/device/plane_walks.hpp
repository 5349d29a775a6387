// Two walks over trees of planes, for policies of your own, on the host and on a device.
//
// The receiver walk meets the nodes of a tree from the top: a node is dropped, taken whole, or opened, which leads to
// its children; an opened leaf is left to the policy. What receives, such as a point, a leaf or a node of another tree,
// is the policy's own:
//
//   Step step(Node node)              drop, take or open
//   void take(Node node)              all of its points at once
//   void leaf(Node leaf)              its points, one by one
//
// The pair walk does the same to pairs of nodes, of one tree or of two. Every unordered pair of points of one tree, or
// every pair of one point of each of two trees, is in exactly one pair of nodes that is dropped, taken or left to
// leaf(); pairs (node, node) stand for the pairs within a node, each point with itself included. Of two nodes on
// different planes the one on the coarser plane is opened, else both.
//
//   Step step(Node a, Node b)
//   void take(Node a, Node b)
//   void leaf(Node a, Node b)         two leaves
//
// The policy is a template parameter: its functions are inlined where they are short. Walks hold what is left to do in
// arrays of a fixed size, 256 bytes and 2 KiB, and do not recurse: a thread of a kernel may walk. Walks read the tree
// only, so that any number of threads may walk at once, each with a policy object of its own or one that allows it;
// the tasks are up to the caller. Source: jz-tree paper, sections III-A and IV-A (arXiv:2604.05885); the dual-tree
// algorithm of Gray and Moore (NIPS 2000). Cost: one step() for each node, or pair of nodes, whose parents were opened.
#pragma once

#include <kith/device/plane_view.hpp>

#include <cstdint>

namespace kith::walk {

/// What a policy says of a node, or of a pair of nodes.
enum class Step : std::uint8_t {
    drop, ///< nothing is left to do for it
    take, ///< take() does it whole
    open, ///< its children follow; for leaves, leaf()
};

/// The receiver walk over the nodes [first, end) of a plane and all below them, in z-order.
template <class View, class Policy>
KITH_HOST_DEVICE void receive(const View& sources, int plane, std::int32_t first, std::int32_t end, Policy& policy) {
    const int top = plane;
    std::int32_t next[max_planes]; // of each plane, what is left of the siblings at hand
    std::int32_t ends[max_planes];
    next[plane] = first;
    ends[plane] = end;
    while (true) {
        if (next[plane] >= ends[plane]) {
            if (plane == top) {
                return;
            }
            ++plane;
            continue;
        }
        const Node node{plane, next[plane]++};
        const Step step = policy.step(node);
        if (step == Step::take) {
            policy.take(node);
        } else if (step == Step::open) {
            if (plane == 0) {
                policy.leaf(node);
            } else {
                --plane;
                next[plane] = sources.first_child(node);
                ends[plane] = sources.end_child(node);
            }
        }
    }
}

/// Over the whole tree.
template <class View, class Policy>
KITH_HOST_DEVICE void receive(const View& sources, Policy& policy) {
    if (sources.plane_count > 0) {
        const int top = sources.plane_count - 1;
        receive(sources, top, 0, sources.planes[top].nodes, policy);
    }
}

namespace detail {

/// Pairs of nodes that are left to do: of every node [a, a_end) of a plane with every one [b, b_end) of a plane. Within
/// siblings it is those with the node itself and later ones.
struct PairRange {
    std::int32_t a_plane;
    std::int32_t b_plane;
    std::int32_t a;
    std::int32_t a_end;
    std::int32_t b_first;
    std::int32_t b;
    std::int32_t b_end;
    bool is_within;
};

template <class View, class Others, class Policy>
KITH_HOST_DEVICE void walk_pairs(const View& tree, const Others& others, const PairRange& start, Policy& policy) {
    PairRange ranges[2 * max_planes]; // each opens a plane at least
    int depth = 0;
    ranges[0] = start;
    while (depth >= 0) {
        PairRange& range = ranges[depth];
        if (range.b >= range.b_end) {
            ++range.a;
            range.b = range.is_within ? range.a : range.b_first;
            depth -= range.a >= range.a_end || range.b >= range.b_end ? 1 : 0;
            continue;
        }
        const Node a{range.a_plane, range.a};
        const Node b{range.b_plane, range.b++};
        const Step step = policy.step(a, b);
        if (step == Step::take) {
            policy.take(a, b);
        } else if (step == Step::open) {
            if (a.plane == 0 && b.plane == 0) {
                policy.leaf(a, b);
                continue;
            }
            PairRange& below = ranges[++depth];
            const bool opens_a = a.plane >= b.plane;
            const bool opens_b = b.plane >= a.plane;
            below.a_plane = a.plane - (opens_a ? 1 : 0);
            below.b_plane = b.plane - (opens_b ? 1 : 0);
            below.a = opens_a ? tree.first_child(a) : a.index;
            below.a_end = opens_a ? tree.end_child(a) : a.index + 1;
            below.b_first = below.b = opens_b ? others.first_child(b) : b.index;
            below.b_end = opens_b ? others.end_child(b) : b.index + 1;
            below.is_within = range.is_within && a.index == b.index;
        }
    }
}

} // namespace detail

/// The pairs within a node of a tree, and those of it with all later nodes of its plane: with every node of a plane as
/// a task, all pairs within the tree. Later nodes are met as such of coarser planes first, in pairs (node, later one).
template <class View, class Policy>
KITH_HOST_DEVICE void pairs(const View& tree, Node task, Policy& policy) {
    detail::walk_pairs(
        tree, tree, {task.plane, task.plane, task.index, task.index + 1, task.index, task.index, task.index + 1, true},
        policy);
    Node ancestor = task;
    while (true) { // the later siblings of the node and of its ancestors
        const bool is_top = ancestor.plane == tree.plane_count - 1;
        const Node parent = is_top ? Node{} : tree.parent(ancestor);
        const std::int32_t first = ancestor.index + 1;
        const std::int32_t end = is_top ? tree.planes[ancestor.plane].nodes : tree.end_child(parent);
        if (first < end) {
            detail::walk_pairs(
                tree, tree, {task.plane, ancestor.plane, task.index, task.index + 1, first, first, end, false}, policy);
        }
        if (is_top) {
            return;
        }
        ancestor = parent;
    }
}

/// The pairs of a node of a tree with all of another tree in the same space: with every node of a plane as a task, all
/// pairs between the trees.
template <class View, class Others, class Policy>
KITH_HOST_DEVICE void pairs(const View& tree, const Others& others, Node task, Policy& policy) {
    if (others.plane_count > 0) {
        const int top = others.plane_count - 1;
        detail::walk_pairs(
            tree, others, {task.plane, top, task.index, task.index + 1, 0, 0, others.planes[top].nodes, false}, policy);
    }
}

} // namespace kith::walk
