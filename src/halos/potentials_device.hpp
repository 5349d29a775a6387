// Potentials of many groups on a GPU: what runs after what. The numbers are the CPU's, to the last bit
// (potential_node.hpp).
//
// Groups of up to direct_sum_size members are summed over all pairs, a block for each. All larger ones, as many as
// there is memory for, get their trees at once (gravity_tree_kernel.hpp), and then each leaf a warp
// (leaf_gravity_kernel.hpp). The host learns how many nodes there are and where their levels begin: 268 bytes for a
// forest. Memory of a forest: 52 bytes for each body, and 144 for each node, of which there is one for four or five
// bodies.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "halos/gravity_kernel.hpp"
#include "halos/gravity_tree_kernel.hpp"
#include "halos/leaf_gravity_kernel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// A copy of what the host has, which must live until the stream has passed.
template <class T>
DeviceBuffer<T> copied(DeviceContext& context, const std::vector<T>& elements) {
    DeviceBuffer<T> copy = context.buffer<T>(std::ssize(elements));
    context.copy(copy.data(), elements.data(), std::ssize(elements) * static_cast<std::int64_t>(sizeof(T)));
    return copy;
}

/// Bodies of some trees, in their order.
struct ForestBodies {
    DeviceBuffer<std::int32_t> trees;   ///< of each body
    DeviceBuffer<std::int32_t> numbers; ///< as given
    DeviceBuffer<std::uint64_t> words;
    DeviceBuffer<double> numbers_of_axes; ///< positions axis after axis, masses

    [[nodiscard]] std::int64_t count() const { return trees.size(); }
    [[nodiscard]] double* axis(int axis) const { return numbers_of_axes.data() + axis * count(); }
    [[nodiscard]] double* mass() const { return axis(3); }
    [[nodiscard]] halos::BodyView view() const { return {{axis(0), axis(1), axis(2)}, mass(), count()}; }
};

inline ForestBodies order_bodies(DeviceContext& context, const Forest& forest, std::int64_t count) {
    ForestBodies bodies;
    bodies.trees = context.buffer<std::int32_t>(count);
    bodies.numbers = context.buffer<std::int32_t>(count);
    bodies.words = context.buffer<std::uint64_t>(count);
    for_each_index(context, "words of bodies", count,
                   MakeWords{forest, bodies.words.data(), bodies.numbers.data(), bodies.trees.data()});
    sort_by_key(context, bodies.words, bodies.numbers, 64);
    if (forest.count > 1) { // keeps the order within each
        DeviceBuffer<std::uint32_t> keys = context.buffer<std::uint32_t>(count);
        for_each_index(context, "trees of bodies", count,
                       MakeTreeKeys{bodies.numbers.data(), bodies.trees.data(), keys.data()});
        sort_by_key(context, keys, bodies.numbers,
                    static_cast<int>(std::bit_width(static_cast<std::uint32_t>(forest.count - 1))));
    }
    bodies.numbers_of_axes = context.buffer<double>(4 * count);
    for_each_index(context, "bodies of trees", count,
                   LoadBodies{forest,
                              bodies.numbers.data(),
                              bodies.trees.data(),
                              bodies.words.data(),
                              {bodies.axis(0), bodies.axis(1), bodies.axis(2)},
                              bodies.mass()});
    return bodies;
}

/// Nodes of some trees in depth-first order.
struct ForestNodes {
    DeviceBuffer<halos::PotentialNode> nodes;
    DeviceBuffer<halos::SecondMoments> moments;
    DeviceBuffer<std::int32_t> roots;
    DeviceBuffer<std::int32_t> by_level; ///< leaves first
    std::int64_t leaves = 0;
};

inline ForestNodes make_nodes(DeviceContext& context, const Forest& forest, const ForestBodies& bodies,
                              SofteningKernel kernel) {
    const std::int64_t count = bodies.count();
    DeviceBuffer<std::int32_t> ends = context.buffer<std::int32_t>(count);
    for_each_index(context, "counting nodes", count,
                   CountNodes{forest, bodies.words.data(), bodies.trees.data(), ends.data()});
    inclusive_sum(context, ends.data(), count, ends.data());
    const std::int32_t nodes = context.to_host(ends.data() + count - 1);
    DeviceBuffer<std::uint64_t> keys = context.buffer<std::uint64_t>(nodes);
    DeviceBuffer<std::int32_t> bits = context.buffer<std::int32_t>(nodes);
    for_each_index(context, "listing nodes", count,
                   ListNodes{forest, bodies.words.data(), bodies.trees.data(), ends.data(), keys.data(), bits.data()});
    sort_by_key(context, keys, bits,
                NodeKey::size_bits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))));

    ForestNodes made;
    made.nodes = context.buffer<halos::PotentialNode>(nodes);
    made.moments = context.buffer<halos::SecondMoments>(nodes);
    made.roots = context.buffer<std::int32_t>(forest.count);
    made.by_level = context.buffer<std::int32_t>(nodes);
    DeviceBuffer<std::uint32_t> levels = context.buffer<std::uint32_t>(nodes);
    DeviceBuffer<std::int32_t> tasks = context.buffer<std::int32_t>(nodes);
    for_each_index(context, "making nodes", nodes,
                   MakeNodes{forest, bodies.trees.data(), nodes, keys.data(), bits.data(), made.nodes.data(),
                             made.roots.data(), levels.data(), made.by_level.data(), tasks.data()});
    inclusive_sum(context, tasks.data(), nodes, tasks.data());
    sort_by_key(context, levels, made.by_level, static_cast<int>(std::bit_width(std::uint32_t{node_levels})));
    const DeviceBuffer<std::int32_t> of_levels = context.buffer<std::int32_t>(node_levels + 2);
    for_each_index(context, "levels of nodes", node_levels + 2,
                   FindLevels{nodes, levels.data(), tasks.data(), of_levels.data()});
    const std::vector<std::int32_t> level_first = context.to_host(of_levels.data(), node_levels + 2);
    made.leaves = level_first[1];
    for (int level = 0; level < node_levels; ++level) {
        const std::int32_t first = level_first[level];
        for_each_index(context, "moments of nodes", level_first[level + 1] - first,
                       SumMoments{bodies.view(), made.by_level.data() + first, made.nodes.data(), made.moments.data()});
    }
    const DeviceBuffer<unsigned long long> radii = context.buffer<unsigned long long>(nodes);
    context.fill(radii.data(), 0, 8 * std::int64_t{nodes});
    for_each_index(context, "radii of nodes", std::int64_t{level_first[node_levels + 1]} * warp_size,
                   NodeRadii{bodies.view(), made.nodes.data(), nodes, tasks.data(), radii.data()});
    for_each_index(context, "limits of nodes", nodes,
                   FillLimits{forest, bodies.trees.data(), kernel, made.nodes.data(), radii.data()});
    return made;
}

/// Potentials of those left of some large groups, by their trees; the last of `trees` is none, but their end.
inline void sum_by_trees(DeviceContext& context, const LeavingMembers& members, const std::vector<TreeGroup>& trees,
                         const Softening& softening, GroupFrame* frames) {
    const DeviceBuffer<TreeGroup> groups = copied(context, trees);
    const Forest forest{members, groups.data(), static_cast<std::int32_t>(std::ssize(trees) - 1), frames};
    for_each_block(context, "frames of groups", forest.count, FindFrames{members, groups.data(), softening, frames});
    const ForestBodies bodies = order_bodies(context, forest, trees.back().first_body);
    const ForestNodes nodes = make_nodes(context, forest, bodies, softening.kernel);
    for_each_index(context, "potentials of leaves", nodes.leaves * warp_size,
                   LeafPotentials{forest, bodies.view(), bodies.numbers.data(), bodies.trees.data(), nodes.roots.data(),
                                  nodes.nodes.data(), nodes.moments.data(), nodes.by_level.data(), softening.kernel});
}

/// Potentials of those left of some groups, of which the host knows the number. `frames` has memory for every group.
inline void find_potentials(DeviceContext& context, const LeavingMembers& members, std::span<const std::int32_t> groups,
                            std::span<const std::int32_t> left, const Softening& softening, GroupFrame* frames) {
    constexpr std::int64_t bytes_of_body = 200; // with its share of nodes, and twice that of what is sorted
    std::int64_t most_bodies = 0;               // of a forest of several trees
    std::vector<std::int32_t> small;
    std::vector<TreeGroup> trees;
    std::int64_t bodies = 0;
    const auto sum_trees = [&] {
        if (bodies > 0) {
            trees.push_back({-1, static_cast<std::int32_t>(bodies)});
            sum_by_trees(context, members, trees, softening, frames);
            context.wait(); // for the list
            trees.clear();
            bodies = 0;
        }
    };
    for (const std::int32_t group : groups) {
        if (left[group] <= halos::direct_sum_size) {
            small.push_back(group);
            continue;
        }
        if (most_bodies == 0) {
            most_bodies = std::clamp<std::int64_t>(context.memory()->left() / bytes_of_body, 1,
                                                   std::numeric_limits<std::int32_t>::max());
        }
        if (bodies + left[group] > most_bodies) {
            sum_trees();
        }
        trees.push_back({group, static_cast<std::int32_t>(bodies)});
        bodies += left[group];
    }
    sum_trees();
    const DeviceBuffer<std::int32_t> small_groups = copied(context, small);
    for_each_block(context, "potentials by pairs", std::ssize(small),
                   DirectSums{members, small_groups.data(), softening});
    context.wait(); // for the list
}

} // namespace kith::detail::inline KITH_GPU
