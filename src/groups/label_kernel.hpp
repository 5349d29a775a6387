// From the groups of a union-find to labels on a GPU: by decreasing size, ties by the smallest original index; points
// that are all of their group are numbered last, in input order. As labels.cpp does it.
//
// All points are made to point at their roots. A root counts itself when it starts; every other member is added to its
// root, in runs, since members of a group lie together along the curve. The roots of two members or more are listed,
// sorted by size and smallest index, and told their labels, which the members then write in input order. The sums are
// of whole numbers, and so do not depend on order.
//
// Scratch: two numbers a point, parents included, and a byte while groups are listed. Sizes are counted in what becomes
// the labels, and single points are counted in what was the parents. Index, of positions, sizes and labels, is int32.
#pragma once

#include "cuda/intrinsics.hpp"
#include "groups/device_union_find.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <class Index>
struct ComponentSizesJob {
    Index count;
    DeviceUnionFind groups;
    const Index* indices;  ///< original ones, by position
    Index* sizes;          ///< by position of the root
    Index* smallest_index; ///< likewise
};

/// Makes every point point at its root, and every point a group of one.
template <class Index>
__global__ void init_component_sizes_kernel(const __grid_constant__ ComponentSizesJob<Index> job) {
    const std::int64_t position = thread_index();
    if (position < job.count) {
        const auto point = static_cast<Index>(position);
        job.groups.set_parent(point, job.groups.find(point));
        job.sizes[point] = 1;
        job.smallest_index[point] = job.indices[point];
    }
}

/// Adds every member to its root. The grid has whole warps.
template <class Index>
__global__ void count_component_sizes_kernel(const __grid_constant__ ComponentSizesJob<Index> job) {
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

template <class Index>
struct GroupListKernelJob {
    ComponentSizesJob<Index> component_sizes;
    std::uint8_t* is_group; ///< of two members or more: by position of the root
    Index* label_of_root;   ///< becomes -1 for single points; may be the smallest indices
};

template <class Index>
__global__ void flag_groups_kernel(const __grid_constant__ GroupListKernelJob<Index> job) {
    const std::int64_t position = thread_index();
    if (position < job.component_sizes.count) {
        const auto point = static_cast<Index>(position);
        const bool is_root = job.component_sizes.groups.find(point) == point;
        const bool is_single = is_root && job.component_sizes.sizes[point] == 1;
        job.is_group[point] = is_root && !is_single ? 1 : 0;
        if (is_single) {
            job.label_of_root[point] = -1;
        }
    }
}

/// The groups of two members or more: how many there are is the device's to know.
template <class Index>
struct GroupCount {
    Index most; ///< a thread each
    const Index* found;
};

/// Keys sort groups by decreasing size, then by smallest index. Keys of no group come last.
template <class Index>
struct GroupKeysKernelJob {
    GroupCount<Index> groups;
    const Index* roots;
    const Index* sizes; ///< by position of the root
    const Index* smallest_index;
    std::uint64_t* keys;
};

template <class Index>
__global__ void make_group_keys_kernel(const __grid_constant__ GroupKeysKernelJob<Index> job) {
    const std::int64_t group = thread_index();
    if (group >= job.groups.most) {
        return;
    }
    job.keys[group] = std::numeric_limits<std::uint64_t>::max();
    if (group < *job.groups.found) {
        const Index root = job.roots[group];
        const std::uint32_t rank = ~static_cast<std::uint32_t>(job.sizes[root]);
        job.keys[group] = std::uint64_t{rank} << 32 | static_cast<std::uint32_t>(job.smallest_index[root]);
    }
}

template <class Index>
struct GroupLabelsKernelJob {
    GroupCount<Index> groups;
    const std::uint64_t* keys; ///< sorted
    const Index* roots;        ///< likewise
    Index* sizes;              ///< gets them by label; may be null
    Index* label_of_root;
};

template <class Index>
__global__ void label_groups_kernel(const __grid_constant__ GroupLabelsKernelJob<Index> job) {
    const std::int64_t label = thread_index();
    if (label < job.groups.most && label < *job.groups.found) {
        if (job.sizes != nullptr) {
            job.sizes[label] = static_cast<Index>(~static_cast<std::uint32_t>(job.keys[label] >> 32));
        }
        job.label_of_root[job.roots[label]] = static_cast<Index>(label);
    }
}

template <class Index>
struct LabelsKernelJob {
    Index count;
    DeviceUnionFind groups;
    const Index* indices;
    const Index* label_of_root;
    Index* labels; ///< by original index; -1 for single points
};

template <class Index>
__global__ void write_labels_kernel(const __grid_constant__ LabelsKernelJob<Index> job) {
    const std::int64_t position = thread_index();
    if (position < job.count) {
        const auto point = static_cast<Index>(position);
        job.labels[job.indices[point]] = job.label_of_root[job.groups.find(point)];
    }
}

template <class Index>
struct SinglesKernelJob {
    Index count;
    const Index* groups;   ///< their number, of two members or more
    Index* labels;         ///< by original index; -1 for single points
    Index* singles_before; ///< of each position and of the end; before that is known: whether it is single
};

template <class Index>
__global__ void flag_singles_kernel(const __grid_constant__ SinglesKernelJob<Index> job) {
    const std::int64_t position = thread_index();
    if (position <= job.count) {
        job.singles_before[position] = position < job.count && job.labels[position] < 0 ? 1 : 0;
    }
}

template <class Index>
__global__ void number_singles_kernel(const __grid_constant__ SinglesKernelJob<Index> job) {
    const std::int64_t position = thread_index();
    if (position < job.count && job.labels[position] < 0) {
        job.labels[position] = *job.groups + job.singles_before[position];
    }
}

} // namespace kith::detail::inline KITH_GPU
