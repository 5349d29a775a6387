// From the groups of a union-find to labels on a GPU: by decreasing size, ties by the smallest original index; points
// that are all of their group are numbered last, in input order. As labels.cpp does it.
//
// All points are made to point at their roots. A root counts itself when it starts; every other member is added to its
// root, in runs, since members of a group lie together along the curve. The roots of two members or more are listed,
// sorted by size and smallest index, and told their labels, which the members then write in input order. The sums are
// of whole numbers, and so do not depend on order.
//
// Scratch: two numbers a point, parents included, and a byte while groups are listed. Sizes are counted in what becomes
// the labels, and single points are counted in what was the parents.
#pragma once

#include "cuda/intrinsics.hpp"
#include "groups/device_union_find.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

struct ComponentSizes {
    std::int32_t count;
    DeviceUnionFind groups;
    const std::int32_t* indices;  ///< original ones, by position
    std::int32_t* sizes;          ///< by position of the root
    std::int32_t* smallest_index; ///< likewise
};

/// Makes every point point at its root, and every point a group of one.
struct StartComponentSizes {
    ComponentSizes components;

    __device__ void operator()(std::int64_t position) const {
        const auto point = static_cast<std::int32_t>(position);
        components.groups.set_parent(point, components.groups.find(point));
        components.sizes[point] = 1;
        components.smallest_index[point] = components.indices[point];
    }
};

/// Adds every member to its root. The grid has whole warps.
template <class Index>
__global__ void count_component_sizes_kernel(const __grid_constant__ ComponentSizes job) {
    constexpr Index nobody = -1;
    const std::int64_t position = thread_index();
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    Index root = nobody;
    Index index = std::numeric_limits<Index>::max();
    if (position < job.count) {
        const auto point = static_cast<Index>(position);
        const Index parent = job.groups.find(point);
        root = parent == point ? nobody : parent; // it has counted itself
        index = job.indices[point];
    }
    const Index before = __shfl_up_sync(whole_warp, root, 1);
    const unsigned starts = __ballot_sync(whole_warp, lane == 0 || before != root);
    const unsigned later_starts = lane + 1 < warp_size ? starts >> (lane + 1) : 0;
    const int left = later_starts != 0 ? __ffs(static_cast<int>(later_starts)) : warp_size - lane; // of this run
#pragma unroll
    for (int lanes = 1; lanes < warp_size; lanes *= 2) {
        const Index other = __shfl_down_sync(whole_warp, index, lanes);
        index = lanes < left ? device_min(index, other) : index;
    }
    if (root != nobody && ((starts >> lane) & 1U) != 0) {
        atomicAdd(job.sizes + root, left);
        atomicMin(job.smallest_index + root, index);
    }
}

struct FlagGroups {
    ComponentSizes components;
    std::uint8_t* is_group;      ///< of two members or more: by position of the root
    std::int32_t* label_of_root; ///< becomes -1 for single points; may be the smallest indices

    __device__ void operator()(std::int64_t position) const {
        const auto point = static_cast<std::int32_t>(position);
        const bool is_root = components.groups.find(point) == point;
        const bool is_single = is_root && components.sizes[point] == 1;
        is_group[point] = is_root && !is_single ? 1 : 0;
        if (is_single) {
            label_of_root[point] = -1;
        }
    }
};

/// Keys sort groups of two members or more by decreasing size, then by smallest index. How many there are is the
/// device's to know; keys of no group come last.
struct MakeGroupKeys {
    const std::int32_t* groups; ///< their number
    const std::int32_t* roots;
    const std::int32_t* sizes; ///< by position of the root
    const std::int32_t* smallest_index;
    std::uint64_t* keys;

    __device__ void operator()(std::int64_t group) const {
        keys[group] = std::numeric_limits<std::uint64_t>::max();
        if (group < *groups) {
            const std::int32_t root = roots[group];
            const std::uint32_t rank = ~static_cast<std::uint32_t>(sizes[root]);
            keys[group] = std::uint64_t{rank} << 32 | static_cast<std::uint32_t>(smallest_index[root]);
        }
    }
};

struct LabelGroups {
    const std::int32_t* groups; ///< their number
    const std::uint64_t* keys;  ///< sorted
    const std::int32_t* roots;  ///< likewise
    std::int32_t* sizes;        ///< gets them by label; may be null
    std::int32_t* label_of_root;

    __device__ void operator()(std::int64_t label) const {
        if (label < *groups) {
            if (sizes != nullptr) {
                sizes[label] = static_cast<std::int32_t>(~static_cast<std::uint32_t>(keys[label] >> 32));
            }
            label_of_root[roots[label]] = static_cast<std::int32_t>(label);
        }
    }
};

struct WriteLabels {
    DeviceUnionFind groups;
    const std::int32_t* indices;
    const std::int32_t* label_of_root;
    std::int32_t* labels; ///< by original index; -1 for single points

    __device__ void operator()(std::int64_t position) const {
        const auto point = static_cast<std::int32_t>(position);
        labels[indices[point]] = label_of_root[groups.find(point)];
    }
};

/// Marks the smallest index of every group.
struct MarkSmallestIndices {
    ComponentSizes components;
    std::int32_t* marks; ///< by original index; 0 before

    __device__ void operator()(std::int64_t position) const {
        const auto point = static_cast<std::int32_t>(position);
        if (components.groups.find(point) == point) {
            marks[components.smallest_index[point]] = 1;
        }
    }
};

/// Numbers groups by their smallest indices.
struct NumberBySmallestIndex {
    ComponentSizes components;
    const std::int32_t* marks;   ///< by original index: how many there are up to it
    std::int32_t* sizes;         ///< by label
    std::int32_t* label_of_root; ///< may be the smallest indices

    __device__ void operator()(std::int64_t position) const {
        const auto point = static_cast<std::int32_t>(position);
        if (components.groups.find(point) == point) {
            const std::int32_t label = marks[components.smallest_index[point]] - 1;
            sizes[label] = components.sizes[point];
            label_of_root[point] = label;
        }
    }
};

/// Of each position and of the end: whether it is a single point's.
struct FlagSingles {
    std::int32_t count;
    const std::int32_t* labels; ///< by original index; -1 for single points
    std::int32_t* is_single;

    __device__ void operator()(std::int64_t position) const {
        is_single[position] = position < count && labels[position] < 0 ? 1 : 0;
    }
};

struct NumberSingles {
    const std::int32_t* groups;         ///< their number
    const std::int32_t* singles_before; ///< of each position
    std::int32_t* labels;               ///< by original index; -1 for single points

    __device__ void operator()(std::int64_t position) const {
        if (labels[position] < 0) {
            labels[position] = *groups + singles_before[position];
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
