// Friends-of-friends links in the plane tree on a GPU, in three steps.
//
// First, plane by plane from the top, a thread a node: a node whose every two points are within the linking length is
// whole, and so are all nodes in it; its points adopt the first point of the largest such node. Second, a warp a leaf:
// the groups within the other leaves, which are marked as well if they are one group. Third, a warp a leaf again: the
// later leaves that may hold friends are looked for in the tree, so that each pair of leaves is met once. What is too
// far away is dropped, and so are nodes that are known to be of one group with the leaf, or with those of its points
// that are near; between a leaf and a node that are one group each, one link is enough. A clump of any number of points
// is thus dropped by each of its leaves at one look, and costs in proportion to its points.
//
// Every node of every plane has a mark: a point whose group all points of the node are in, or none. Bounds use the same
// operations as distances, so nothing needs slack. Method: fof_policy-inl.hpp, after the jz-tree paper, section IV-A.
#pragma once

#include "groups/friend_search.hpp"
#include "tree/view.hpp"
#include "walk/depth_first.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

inline constexpr std::int32_t not_one_group = -1;

template <class T>
struct LinkKernelJob {
    TreeView<T> tree;
    const LinkFrame<T>* frame = nullptr;
    DeviceUnionFind groups;
    /// Per plane and node: a point whose group all points of the node are in, or not_one_group.
    std::array<std::int32_t*, max_planes> marks{};
};

/// The marks of all planes lie one after another.
template <class T>
std::int64_t mark_count(const TreeView<T>& tree) {
    std::int64_t nodes = 0;
    for (int plane = 0; plane <= tree.top; ++plane) {
        nodes += tree.planes[plane].nodes;
    }
    return nodes;
}

template <class T>
LinkKernelJob<T> link_job(const TreeView<T>& tree, const LinkFrame<T>* frame, const DeviceUnionFind& groups,
                          std::int32_t* marks) {
    LinkKernelJob<T> job{tree, frame, groups, {}};
    for (int plane = 0; plane <= tree.top; ++plane) {
        job.marks[plane] = marks;
        marks += tree.planes[plane].nodes;
    }
    return job;
}

template <class T>
struct WholeNodesKernelJob {
    LinkKernelJob<T> link;
    int plane = 0;
};

template <class T, int D, bool Periodic>
__device__ DeviceBox<T, D, Periodic> box_of(const PlaneView<T>& nodes, std::int32_t node, const Periods<T>& period) {
    return {[&](int axis) { return nodes.lower_corners[axis * nodes.stride + node]; },
            [&](int axis) { return nodes.upper_corners[axis * nodes.stride + node]; }, period.data()};
}

/// Marks the whole nodes of a plane, and hands the marks of all nodes to their children. The marks of the top plane are
/// not_one_group before. The grid has a thread for each node.
template <class T, int D, bool Periodic>
__global__ void mark_whole_nodes_kernel(const __grid_constant__ WholeNodesKernelJob<T> job) {
    const std::int64_t thread = thread_index();
    const PlaneView<T>& plane = job.link.tree.planes[job.plane];
    const LinkFrame<T>& frame = *job.link.frame;
    if (thread >= plane.nodes || frame.is_refused) {
        return;
    }
    const auto node = static_cast<std::int32_t>(thread);
    std::int32_t mark = job.link.marks[job.plane][node];
    if (mark == not_one_group) {
        const auto greatest =
            box_of<T, D, Periodic>(plane, node, frame.period)
                .greatest_squared_distance([&](int axis) { return plane.lower_corners[axis * plane.stride + node]; },
                                           [&](int axis) { return plane.upper_corners[axis * plane.stride + node]; });
        mark = greatest <= frame.squared_length ? plane.first_point[node] : not_one_group;
        job.link.marks[job.plane][node] = mark;
    }
    if (job.plane > 0) {
        std::int32_t* below = job.link.marks[job.plane - 1];
        for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
            below[child] = mark;
        }
    }
}

inline constexpr int link_warps = 4; ///< of a block
/// Blocks at a time on a multiprocessor, at least: leaves 64 registers where a box takes few of them, else 128.
template <class T, int D, bool Periodic>
inline constexpr int link_blocks = (Periodic ? 2 : 1) * D * sizeof(T) <= 24 ? 8 : 4;

/// The leaf of this warp; may be one that is not there.
__device__ inline std::int64_t leaf_of_warp() {
    return std::int64_t{blockIdx.x} * link_warps + static_cast<int>(threadIdx.x) / warp_size;
}

/// Gives all points their first parents, by the links within their leaf. The grid has a warp for each leaf.
template <class T, int D, bool Periodic>
__global__ void __launch_bounds__(link_warps* warp_size, link_blocks<T, D, Periodic>)
    link_inside_leaves_kernel(const __grid_constant__ LinkKernelJob<T> job) {
    const PlaneView<T>& leaves = job.tree.planes[0];
    const std::int64_t leaf = leaf_of_warp();
    if (leaf >= leaves.nodes) {
        return;
    }
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int32_t begin = leaves.first_point[leaf];
    const std::int32_t size = leaves.first_point[leaf + 1] - begin;
    const LinkFrame<T>& frame = *job.frame;
    if (frame.is_refused) {
        for (std::int32_t i = lane; i < size; i += warp_size) {
            job.groups.set_parent(begin + i, begin + i);
        }
        return;
    }
    const std::int32_t mark = job.marks[0][leaf];
    if (mark != not_one_group) {
        for (std::int32_t i = lane; i < size; i += warp_size) {
            job.groups.set_parent(begin + i, mark);
        }
        return;
    }
    const auto search = [&](std::int32_t i) {
        return FriendSearch<T, D, Periodic>(job.tree.points, frame.period, frame.squared_length, begin + i,
                                            device_min(size - i, std::int32_t{warp_size}));
    };
    for (std::int32_t i = 0; i < size; i += warp_size) {
        search(i).start_groups(job.groups);
    }
    __syncwarp();
    for (std::int32_t i = 0; size - i > warp_size; i += warp_size) { // the pairs between one 32 and another
        const FriendSearch<T, D, Periodic> some = search(i);
        for (std::int32_t other = i + warp_size; other < size; other += warp_size) {
            const unsigned candidates = whole_warp >> (warp_size - device_min(size - other, std::int32_t{warp_size}));
            some.join(job.groups, begin + other, some.among(begin + other, candidates));
        }
    }
    __syncwarp();
    bool is_one_group = true;
    for (std::int32_t i = lane; i < size; i += warp_size) {
        is_one_group = is_one_group && job.groups.find(begin + i) == begin; // the root is the lowest
    }
    if (__all_sync(whole_warp, is_one_group) && lane == 0) {
        job.marks[0][leaf] = begin;
    }
}

/// One leaf's links with later ones. All members but is_wanted() are called by the whole warp.
template <class T, int D, bool Periodic>
class LaterLeaves {
public:
    __device__ LaterLeaves(const LinkKernelJob<T>& job, std::int32_t leaf)
        : job_(job), begin_(job.tree.planes[0].first_point[leaf]), end_(job.tree.planes[0].first_point[leaf + 1]),
          member_(job.marks[0][leaf]), squared_length_(job.frame->squared_length),
          box_(box_of<T, D, Periodic>(job.tree.planes[0], leaf, job.frame->period)),
          lane_(static_cast<int>(threadIdx.x) % warp_size) {}

    __device__ void link() {
        const std::int32_t size = end_ - begin_;
        for (std::int32_t i = 0; i < size; i += warp_size) {
            const FriendSearch<T, D, Periodic> points(job_.tree.points, job_.frame->period, squared_length_, begin_ + i,
                                                      device_min(size - i, std::int32_t{warp_size}));
            walk_depth_first(
                job_.tree, [&](int plane, std::int32_t node) { return is_wanted(plane, node); },
                [&](int plane, std::int32_t node) {
                    if (!__any_sync(whole_warp, may_be_linked(points, plane, node))) {
                        return false;
                    }
                    if (plane == 0) {
                        link_with_leaf(points, node);
                    }
                    return true;
                });
        }
    }

private:
    [[nodiscard]] __device__ bool is_one_group() const { return member_ != not_one_group; }

    /// Whether the leaf and a node with that mark are known to be one group.
    [[nodiscard]] __device__ bool are_joined(std::int32_t mark) {
        if (!is_one_group() || mark == not_one_group) {
            return false;
        }
        member_ = job_.groups.known_root(member_);
        return job_.groups.known_root(mark) == member_;
    }

    /// Whether a node has later points that may have to be joined. Joins it at once if all its points are friends.
    [[nodiscard]] __device__ bool is_wanted(int plane, std::int32_t node) {
        const PlaneView<T>& nodes = job_.tree.planes[plane];
        const auto lower = [&](int axis) { return nodes.lower_corners[axis * nodes.stride + node]; };
        const auto upper = [&](int axis) { return nodes.upper_corners[axis * nodes.stride + node]; };
        if (nodes.first_point[node + 1] <= end_ || squared_length_ < box_.least_squared_distance(lower, upper)) {
            return false;
        }
        const std::int32_t other = job_.marks[plane][node];
        if (!is_one_group() || other == not_one_group) {
            return true;
        }
        if (are_joined(other)) {
            return false;
        }
        if (squared_length_ < box_.greatest_squared_distance(lower, upper)) {
            return true;
        }
        job_.groups.unite(member_, other);
        return false;
    }

    /// Whether this lane's point may have friends in a node that it is not known to be joined with.
    [[nodiscard]] __device__ bool may_be_linked(const FriendSearch<T, D, Periodic>& points, int plane,
                                                std::int32_t node) {
        const PlaneView<T>& nodes = job_.tree.planes[plane];
        if (!points.is_near([&](int axis) { return nodes.lower_corners[axis * nodes.stride + node]; },
                            [&](int axis) { return nodes.upper_corners[axis * nodes.stride + node]; })) {
            return false;
        }
        const std::int32_t other = job_.marks[plane][node];
        if (is_one_group() || other == not_one_group) {
            return !are_joined(other);
        }
        return job_.groups.known_root(points.point()) != job_.groups.known_root(other);
    }

    __device__ void link_with_leaf(const FriendSearch<T, D, Periodic>& points, std::int32_t leaf) {
        const std::int32_t begin = job_.tree.planes[0].first_point[leaf];
        const std::int32_t size = job_.tree.planes[0].first_point[leaf + 1] - begin;
        const bool one_is_enough = job_.marks[0][leaf] != not_one_group;
        for (std::int32_t i = 0; i < size; i += warp_size) {
            const std::int32_t first = begin + i;
            const unsigned candidates = __ballot_sync(whole_warp, lane_ < size - i && is_candidate(first + lane_));
            if (candidates == 0) {
                continue;
            }
            unsigned friends = points.among(first, candidates);
            if (!is_one_group()) {
                points.join(job_.groups, first, one_is_enough ? friends & (0U - friends) : friends);
                continue;
            }
#pragma unroll
            for (int lanes = 1; lanes < warp_size; lanes *= 2) {
                friends |= __shfl_xor_sync(whole_warp, friends, lanes);
            }
            const unsigned joined = one_is_enough ? friends & (0U - friends) : friends;
            if (((joined >> lane_) & 1U) != 0) {
                job_.groups.unite(member_, first + lane_);
            }
            if (one_is_enough && joined != 0) {
                return;
            }
        }
    }

    /// Whether a point is near and not known to be joined.
    [[nodiscard]] __device__ bool is_candidate(std::int32_t point) {
        const PointSetView<T>& points = job_.tree.points;
        const auto x = [&](int axis) { return points.coordinates[axis * points.stride + point]; };
        return !(squared_length_ < box_.least_squared_distance(x, x)) && !are_joined(point);
    }

    const LinkKernelJob<T>& job_;
    std::int32_t begin_;
    std::int32_t end_;
    std::int32_t member_; ///< of the one group of the leaf's points, or not_one_group
    T squared_length_;
    DeviceBox<T, D, Periodic> box_;
    int lane_;
};

/// Joins all friends of which one is in a leaf and one in a later leaf. The grid has a warp for each leaf.
template <class T, int D, bool Periodic>
__global__ void __launch_bounds__(link_warps* warp_size, link_blocks<T, D, Periodic>)
    link_leaves_kernel(const __grid_constant__ LinkKernelJob<T> job) {
    const std::int64_t leaf = leaf_of_warp();
    if (leaf < job.tree.planes[0].nodes && !job.frame->is_refused) {
        LaterLeaves<T, D, Periodic>(job, static_cast<std::int32_t>(leaf)).link();
    }
}

} // namespace kith::detail::inline KITH_GPU
