// The trees of several large groups on a GPU, side by side (potential_tree.hpp): bodies, nodes and their moments.
//
// Bodies are in the order of groups, in each by their words. Two neighbors in that order, whose words first differ in
// some bit, are where the children of a node meet: its bodies are those whose words share the bits above. So there is a
// thread for each pair of neighbors, which finds its node's ends by bisection, and keeps it if it has more bodies than
// a leaf; children with fewer are the leaves. Sorted by their first body, those with more bodies first, nodes are in
// depth-first order. Moments are summed from the leaves up: a child's words share one more bit at least, so nodes are
// filled by that bit, of all groups at once.
#pragma once

#include "cuda/intrinsics.hpp"
#include "halos/gravity_kernel.hpp"
#include "halos/leaving_members.hpp"
#include "halos/potential_node.hpp"
#include "support/bits.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// A group of the forest.
struct TreeGroup {
    std::int32_t group;
    std::int32_t first_body;
};

/// Groups whose trees are made at once; there is one more at the end, with the number of bodies.
struct Forest {
    LeavingMembers members;
    const TreeGroup* groups;
    std::int32_t count;
    const GroupFrame* frames; ///< by group

    [[nodiscard]] __device__ std::int32_t tree_of(std::int64_t body) const {
        return owner_of_task(body, count, [&](std::int32_t i) { return groups[i].first_body; });
    }
    [[nodiscard]] __device__ std::int32_t bodies_of(std::int32_t tree) const {
        return groups[tree + 1].first_body - groups[tree].first_body;
    }
};

/// A block for each group.
struct FindFrames {
    LeavingMembers members;
    const TreeGroup* groups;
    Softening softening;
    GroupFrame* frames;

    __device__ void operator()() const;
};

__device__ inline void FindFrames::operator()() const {
    const std::int32_t group = groups[blockIdx.x].group;
    const GroupFrame frame = frame_of_group(members, group, softening.length);
    if (threadIdx.x == 0) {
        frames[group] = frame;
    }
}

/// A body of the forest, as given: in the order of groups and members.
struct GivenBody {
    GravityBody body;
    std::uint64_t word;

    __device__ GivenBody(const Forest& forest, std::int32_t tree, std::int32_t number) {
        const TreeGroup& of = forest.groups[tree];
        const std::int32_t place = number - of.first_body;
        const std::int64_t member = forest.members.member(of.group, place);
        const GroupFrame& frame = forest.frames[of.group];
        body = {frame.position(forest.members, member), frame.mass(forest.members, member)};
        word = halos::WordLayout(forest.bodies_of(tree))(body.position, place);
    }
};

struct MakeWords {
    Forest forest;
    std::uint64_t* words;
    std::int32_t* numbers;
    std::int32_t* trees; ///< of each body

    __device__ void operator()(std::int64_t body) const {
        const auto number = static_cast<std::int32_t>(body);
        trees[body] = forest.tree_of(body);
        words[body] = GivenBody(forest, trees[body], number).word;
        numbers[body] = number;
    }
};

struct MakeTreeKeys {
    const std::int32_t* numbers;
    const std::int32_t* trees; ///< by number
    std::uint32_t* keys;

    __device__ void operator()(std::int64_t body) const {
        keys[body] = static_cast<std::uint32_t>(trees[numbers[body]]);
    }
};

/// Bodies in the order of the forest.
struct LoadBodies {
    Forest forest;
    const std::int32_t* numbers; ///< in that order
    const std::int32_t* trees;   ///< the same in either order
    std::uint64_t* words;
    std::array<double*, 3> position;
    double* mass;

    __device__ void operator()(std::int64_t body) const {
        const GivenBody given(forest, trees[body], numbers[body]);
        words[body] = given.word;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            position[axis][body] = given.body.position[axis];
        }
        mass[body] = given.body.mass;
    }
};

/// The first of an ascending range, from `first` to `end`, of which is_behind(i) is not true.
template <class IsBehind>
__device__ std::int32_t first_not_behind(std::int32_t first, std::int32_t end, const IsBehind& is_behind) {
    while (first < end) {
        const std::int32_t middle = first + (end - first) / 2;
        const bool behind = is_behind(middle);
        first = behind ? middle + 1 : first;
        end = behind ? end : middle;
    }
    return first;
}

/// The node whose children meet behind a body.
struct NodeAbove {
    std::int32_t first = 0;
    std::int32_t middle = 0;
    std::int32_t last = 0;
    std::int32_t bit = 0; ///< of the words, counted from 1: the highest in which the bodies differ

    /// Of no bodies for the last body of a group.
    __device__ NodeAbove(const Forest& forest, const std::uint64_t* words, const std::int32_t* trees,
                         std::int64_t body) {
        const std::int32_t tree = trees[body];
        const std::int32_t begin = forest.groups[tree].first_body;
        const std::int32_t end = forest.groups[tree + 1].first_body;
        middle = static_cast<std::int32_t>(body) + 1;
        first = middle;
        last = middle;
        if (middle == end) {
            return;
        }
        const std::uint64_t word = words[body];
        bit = bit_width(word ^ words[middle]);
        const auto shared = [bit = bit](std::uint64_t bits) { return bit < 64 ? bits >> bit : 0; };
        first = first_not_behind(begin, middle, [&](std::int32_t i) { return shared(words[i]) < shared(word); });
        last = first_not_behind(middle, end, [&](std::int32_t i) { return shared(words[i]) <= shared(word); });
    }
    [[nodiscard]] __device__ bool is_kept() const { return last - first > halos::potential_leaf_size; }
    [[nodiscard]] __device__ bool first_is_leaf() const { return middle - first <= halos::potential_leaf_size; }
    [[nodiscard]] __device__ bool second_is_leaf() const { return last - middle <= halos::potential_leaf_size; }
};

struct CountNodes {
    Forest forest;
    const std::uint64_t* words;
    const std::int32_t* trees;
    std::int32_t* counts; ///< of nodes that the body's thread makes

    __device__ void operator()(std::int64_t body) const {
        const NodeAbove node(forest, words, trees, body);
        counts[body] = node.is_kept() ? 1 + (node.first_is_leaf() ? 1 : 0) + (node.second_is_leaf() ? 1 : 0) : 0;
    }
};

/// A node's bodies as a number: depth-first order is that of the numbers.
struct NodeKey {
    static constexpr int size_bits = 32;

    static __device__ std::uint64_t of(std::int32_t first, std::int32_t last) {
        return static_cast<std::uint64_t>(first) << size_bits | ~static_cast<std::uint32_t>(last - first);
    }
    static __device__ std::int32_t first(std::uint64_t key) { return static_cast<std::int32_t>(key >> size_bits); }
    static __device__ std::int32_t last(std::uint64_t key) {
        return first(key) + static_cast<std::int32_t>(~static_cast<std::uint32_t>(key));
    }
};

struct ListNodes {
    Forest forest;
    const std::uint64_t* words;
    const std::int32_t* trees;
    const std::int32_t* ends; ///< of the nodes that each body's thread makes
    std::uint64_t* keys;
    std::int32_t* bits; ///< 0: a leaf

    __device__ void operator()(std::int64_t body) const {
        const NodeAbove node(forest, words, trees, body);
        std::int32_t at = body > 0 ? ends[body - 1] : 0;
        const auto add = [&](std::int32_t first, std::int32_t last, std::int32_t bit) {
            keys[at] = NodeKey::of(first, last);
            bits[at++] = bit;
        };
        if (node.is_kept()) {
            add(node.first, node.last, node.bit);
            if (node.first_is_leaf()) {
                add(node.first, node.middle, 0);
            }
            if (node.second_is_leaf()) {
                add(node.middle, node.last, 0);
            }
        }
    }
};

constexpr std::int32_t bodies_of_radius_task = 1 << 10;

/// Nodes in depth-first order, without moments.
struct MakeNodes {
    Forest forest;
    const std::int32_t* trees;
    std::int32_t nodes_in_all;
    const std::uint64_t* keys;
    const std::int32_t* bits;
    halos::PotentialNode* nodes;
    std::int32_t* roots;    ///< of each tree
    std::uint32_t* levels;  ///< the bits again, to be sorted
    std::int32_t* by_level; ///< the node itself
    std::int32_t* radius_tasks;

    __device__ void operator()(std::int64_t index) const {
        halos::PotentialNode& node = nodes[index];
        const auto self = static_cast<std::int32_t>(index);
        node.first = NodeKey::first(keys[index]);
        node.last = NodeKey::last(keys[index]);
        node.next = first_not_behind(self + 1, nodes_in_all,
                                     [&](std::int32_t i) { return NodeKey::first(keys[i]) < node.last; });
        const std::int32_t tree = trees[node.first];
        if (node.first == forest.groups[tree].first_body && node.last == forest.groups[tree + 1].first_body) {
            roots[tree] = self;
        }
        levels[index] = static_cast<std::uint32_t>(bits[index]);
        by_level[index] = self;
        radius_tasks[index] = (node.last - node.first + bodies_of_radius_task - 1) / bodies_of_radius_task;
    }
};

constexpr int node_levels = 65; ///< leaves, and one for each bit of a word

/// Where the nodes of each level begin, and their number; behind that the number of tasks for radii.
struct FindLevels {
    std::int32_t nodes;
    const std::uint32_t* levels; ///< sorted
    const std::int32_t* ends_of_tasks;
    std::int32_t* found;

    __device__ void operator()(std::int64_t level) const {
        found[level] = level > node_levels ? ends_of_tasks[nodes - 1] : first_not_behind(0, nodes, [&](std::int32_t i) {
            return static_cast<std::int64_t>(levels[i]) < level;
        });
    }
};

/// The nodes of one level, those below being filled.
struct SumMoments {
    halos::BodyView bodies;
    const std::int32_t* of_level;
    halos::PotentialNode* nodes;
    halos::SecondMoments* moments;

    __device__ void operator()(std::int64_t i) const {
        const std::int32_t index = of_level[i];
        if (nodes[index].is_leaf(index)) {
            halos::sum_bodies(bodies, nodes[index], moments[index]);
        } else {
            halos::sum_children(nodes, moments, index);
        }
    }
};

/// A warp for some bodies of a node.
struct NodeRadii {
    halos::BodyView bodies;
    const halos::PotentialNode* nodes;
    std::int32_t nodes_in_all;
    const std::int32_t* ends_of_tasks; ///< of each node
    unsigned long long* squares;       ///< of radii, as bits: zeros before

    __device__ void operator()(std::int64_t thread) const;
};

__device__ inline void NodeRadii::operator()(std::int64_t thread) const {
    const auto task = static_cast<std::int32_t>(thread / warp_size);
    const std::int32_t index =
        first_not_behind(0, nodes_in_all, [&](std::int32_t i) { return ends_of_tasks[i] <= task; });
    const halos::PotentialNode& node = nodes[index];
    const std::int32_t number = task - (index > 0 ? ends_of_tasks[index - 1] : 0);
    const std::int32_t first = node.first + number * bodies_of_radius_task;
    const std::int32_t end = device_min(first + bodies_of_radius_task, node.last);
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    double largest = 0;
    for (std::int32_t body = first + lane; body < end; body += warp_size) {
        largest = device_max(largest, halos::squared_distance_from_center(node, bodies, body));
    }
    __syncwarp();
#pragma unroll
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
        largest = device_max(largest, __shfl_xor_sync(whole_warp, largest, lanes));
    }
    if (lane == 0) {
        atomicMax(squares + index, std::bit_cast<unsigned long long>(largest)); // in the order of the numbers
    }
}

struct FillLimits {
    Forest forest;
    const std::int32_t* trees;
    SofteningKernel kernel;
    halos::PotentialNode* nodes;
    const unsigned long long* squares;

    __device__ void operator()(std::int64_t index) const {
        halos::PotentialNode& node = nodes[index];
        const GroupFrame& frame = forest.frames[forest.groups[trees[node.first]].group];
        halos::fill_limits(node, std::bit_cast<double>(squares[index]), halos::reach_of(kernel, frame.units.softening));
    }
};

} // namespace kith::detail::inline KITH_GPU
