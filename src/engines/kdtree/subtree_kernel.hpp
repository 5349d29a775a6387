// Whole subtrees of a left-balanced k-d tree on a GPU, a block for each: what build_device.hpp does level by level, in
// shared memory.
//
// A subtree is a left-balanced tree of its own: its nodes are numbered as if it were alone. Each level is sorted by
// (tag, position, index), a total order, by a bitonic network whose comparisons all go one way: so elements behind the
// last are not needed.
// Cost: O(log^3 n) steps of the block for n points.
#pragma once

#include "cuda/intrinsics.hpp"
#include "engines/kdtree/growing_tree.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T, int D>
struct SubtreesJob {
    GrowingTree<T, D> tree;
    int level;                  ///< of the roots
    const std::int32_t* points; ///< as the level above has sorted them; null: there is none
};

inline constexpr int subtree_points = 1024; ///< at most: 12 or 16 kB of shared memory
inline constexpr int subtree_threads = 256;

/// A node of the whole tree, from its number in the subtree.
__device__ inline kdtree::Node node_under(kdtree::Node root, kdtree::Node node) {
    const int level = kdtree::level_of(node);
    return ((root + 1) << level) - 1 + (node - kdtree::first_of_level(level));
}

/// Where the points of a subtree begin, as the level above it has sorted them.
__device__ inline kdtree::Node first_point_of(kdtree::Node root, kdtree::Node count) {
    if (root == 0) {
        return 0;
    }
    const kdtree::Node parent = kdtree::parent_of(root);
    return root == kdtree::left_child(parent) ? kdtree::segment_begin(parent, count)
                                              : kdtree::pivot_position(parent, count) + 1;
}

/// The grid has a block for each node of the level.
template <class T, int D>
__global__ void __launch_bounds__(subtree_threads)
    finish_subtrees_kernel(const __grid_constant__ SubtreesJob<T, D> job) {
    using Node = kdtree::Node;
    __shared__ SharedArray<Node, subtree_points> tags;
    __shared__ SharedArray<OrderedBits<T>, subtree_points> positions;
    __shared__ SharedArray<std::int32_t, subtree_points> points;

    const GrowingTree<T, D>& tree = job.tree;
    const Node root = kdtree::first_of_level(job.level) + blockIdx.x;
    const auto count = kdtree::subtree_size(root, tree.count);
    const auto size = static_cast<int>(count);
    const int thread = static_cast<int>(threadIdx.x);
    const auto for_each = [&](int begin, int end, const auto& body) {
        for (int i = begin + thread; i < end; i += subtree_threads) {
            body(i);
        }
    };
    const auto for_nodes_of = [&](int level, const auto& body) {
        const Node end = device_min(kdtree::first_of_level(level + 1), count);
        for_each(static_cast<int>(kdtree::first_of_level(level)), static_cast<int>(end),
                 [&](int node) { body(node_under(root, static_cast<Node>(node))); });
    };
    const auto exchange = [&](int i, int j) {
        const Node tag = tags[i];
        const Node other_tag = tags[j];
        const OrderedBits<T> position = positions[i];
        const OrderedBits<T> other_position = positions[j];
        const std::int32_t point = points[i];
        const std::int32_t other_point = points[j];
        const bool is_before = tag != other_tag
                                   ? tag < other_tag
                                   : (position != other_position ? position < other_position : point < other_point);
        if (!is_before) {
            tags[i] = other_tag;
            tags[j] = tag;
            positions[i] = other_position;
            positions[j] = position;
            points[i] = other_point;
            points[j] = point;
        }
    };

    const Node first_point = first_point_of(root, tree.count);
    for_each(0, size, [&](int i) {
        tags[i] = 0;
        points[i] = job.points == nullptr ? static_cast<std::int32_t>(first_point) + i : job.points[first_point + i];
    });
    const int levels = kdtree::levels_of(count);
    for (int level = 0; level < levels; ++level) {
        __syncthreads(); // nodes of the level above are there
        if (tree.split_axes != nullptr) {
            for_nodes_of(level, [&](Node node) { tree.choose_axis(node); });
            __syncthreads();
        }
        const Node first = kdtree::first_of_level(level);
        if (level + 1 == levels) { // every point that is left has a node of its own
            for_each(0, size, [&](int i) {
                const Node tag = tags[i];
                if (tag >= first) {
                    tree.put(node_under(root, tag), points[i]);
                }
            });
            break;
        }
        for_each(0, size, [&](int i) {
            const Node tag = tags[i];
            positions[i] = tag < first ? OrderedBits<T>{0} : tree.position_along(node_under(root, tag), points[i]);
        });
        for (int width = 2; width < 2 * size; width *= 2) {
            __syncthreads();
            for_each(0, size, [&](int i) {
                const int j = i ^ (width - 1);
                if (i < j && j < size) {
                    exchange(i, j);
                }
            });
            for (int distance = width / 4; distance > 0; distance /= 2) {
                __syncthreads();
                for_each(0, size, [&](int i) {
                    const int j = i ^ distance;
                    if (i < j && j < size) {
                        exchange(i, j);
                    }
                });
            }
        }
        __syncthreads();
        for_each(static_cast<int>(first), size, [&](int i) {
            const Node tag = tags[i];
            const auto pivot = static_cast<int>(kdtree::pivot_position(tag, count));
            if (i == pivot) {
                tree.put(node_under(root, tag), points[i]);
            } else {
                tags[i] = i < pivot ? kdtree::left_child(tag) : kdtree::right_child(tag);
            }
        });
    }
    for (int level = levels; level-- > 0;) {
        __syncthreads();
        for_nodes_of(level, [&](Node node) { tree.find_least_index(node); });
    }
}

} // namespace kith::detail::inline KITH_GPU
