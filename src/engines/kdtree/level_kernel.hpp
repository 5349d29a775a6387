// One level of a left-balanced k-d tree on a GPU, by tags and a sort (build_device.hpp): a thread for each point, or
// for each node of the level.
#pragma once

#include "cuda/intrinsics.hpp"
#include "engines/kdtree/growing_tree.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T, int D>
struct LevelJob {
    GrowingTree<T, D> tree;
    int level;
    kdtree::Node* tags; ///< of each point: its node, or the one of this level that it is under
    std::uint64_t* keys;
    std::int32_t* points; ///< to be sorted, or sorted, by tag, position along the tag's axis and index
};

/// Chooses the axes of a level.
template <class T, int D>
__global__ void choose_axes_kernel(const __grid_constant__ LevelJob<T, D> job) {
    const std::int64_t node = kdtree::first_of_level(job.level) + thread_index();
    if (node < job.tree.count && node < kdtree::first_of_level(job.level + 1)) {
        job.tree.choose_axis(static_cast<kdtree::Node>(node));
    }
}

/// Keys in the order of indices, which a stable sort keeps among equal ones: (tag, position) in one word, or, in
/// float64, the position alone. Points that are nodes already have no position.
template <class T, int D>
__global__ void position_keys_kernel(const __grid_constant__ LevelJob<T, D> job) {
    const std::int64_t i = thread_index();
    if (i >= job.tree.count) {
        return;
    }
    const auto point = static_cast<std::int32_t>(i);
    const kdtree::Node tag = job.tags[i];
    const bool is_node = tag < kdtree::first_of_level(job.level);
    const std::uint64_t position = is_node ? 0 : job.tree.position_along(tag, point);
    job.keys[i] = sizeof(T) == 4 ? std::uint64_t{tag} << 32 | position : position;
    job.points[i] = point;
}

/// Tags of points that are sorted by their positions.
template <class T, int D>
__global__ void tag_keys_kernel(const __grid_constant__ LevelJob<T, D> job) {
    const std::int64_t i = thread_index();
    if (i < job.tree.count) {
        job.keys[i] = job.tags[job.points[i]];
    }
}

/// Makes the point at the pivot of each node of the level that node, and those before and behind it go to its children.
template <class T, int D>
__global__ void part_level_kernel(const __grid_constant__ LevelJob<T, D> job) {
    const std::int64_t i = thread_index();
    if (i >= job.tree.count || i < kdtree::first_of_level(job.level)) {
        return;
    }
    const std::int32_t point = job.points[i];
    const kdtree::Node tag = job.tags[point];
    const std::int64_t pivot = kdtree::pivot_position(tag, job.tree.count);
    if (i == pivot) {
        job.tree.put(tag, point);
    } else {
        job.tags[point] = i < pivot ? kdtree::left_child(tag) : kdtree::right_child(tag);
    }
}

/// The smallest index under each node of a level, from those of the level below.
template <class T, int D>
__global__ void least_indices_kernel(const __grid_constant__ LevelJob<T, D> job) {
    const std::int64_t node = kdtree::first_of_level(job.level) + thread_index();
    if (node < job.tree.count && node < kdtree::first_of_level(job.level + 1)) {
        job.tree.find_least_index(static_cast<kdtree::Node>(node));
    }
}

} // namespace kith::detail::inline KITH_GPU
