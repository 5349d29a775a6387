// Exact nearest neighbors in the plane tree on a GPU, a warp for each query: for any k and any points.
//
// The warp goes down to the leaf that seems nearest, which gives the first bound, then through all nodes that may hold
// something nearer, the nearest first: 32 nodes of a plane are tested at once, by least distance and smallest index,
// the same pair that orders neighbors, so that ties are cut exactly. Lane p keeps what is left to do on plane p;
// nothing else is needed to come back, so neither depth nor the number of nodes can overflow.
#pragma once

#include "geometry/distances_kernel.hpp"
#include "neighbors/warp_row.hpp"
#include "tree/view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct SearchKernelJob {
    PointSetView<T> queries;
    TreeView<T> sources;
    DeviceRequest<T> request;
    std::int32_t first_query = 0; ///< positions among the sorted queries
    std::int32_t end_query = 0;
    DeviceRows only; ///< these queries instead, if not null
};

/// What a query looks for: any point. Others may shut nodes.
struct AnyPoint {
    [[nodiscard]] __device__ bool is_open(int /*plane*/, std::int64_t /*node*/) const { return true; }
    [[nodiscard]] __device__ bool is_wanted(std::int64_t /*point*/) const { return true; }
};

/// One query's way through the tree. All members but is_wanted() are called by the whole warp.
template <class T, int D, bool Periodic, class Wanted = AnyPoint>
class NodeFinder {
public:
    __device__ NodeFinder(const TreeView<T>& tree, const DevicePoint<T, D, Periodic>& position,
                          const Wanted& wanted = {})
        : tree_(tree), position_(position), wanted_(wanted), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

    [[nodiscard]] __device__ bool is_wanted(std::int64_t point) const { return wanted_.is_wanted(point); }

    /// The leaf below the nearest node of every plane.
    __device__ std::int32_t likely_leaf() const {
        std::int32_t first = 0;
        std::int32_t end = tree_.planes[tree_.top].nodes;
        for (int plane = tree_.top;; --plane) {
            RankKey<T> nearest = no_candidate<T>();
            std::int32_t node = first;
            for (std::int64_t i = first + lane_; i < end; i += warp_size) { // wider than what it may run past
                const RankKey<T> key = wanted_.is_open(plane, i) ? key_of(plane, i) : no_candidate<T>();
                node = key < nearest ? static_cast<std::int32_t>(i) : node;
                nearest = RankKey<T>::either(key < nearest, key, nearest);
            }
            __syncwarp();
            const RankKey<T> least = least_of_warp(nearest);
            const unsigned with_least = __ballot_sync(whole_warp, !(least < nearest));
            node = __shfl_sync(whole_warp, node, __ffs(static_cast<int>(with_least)) - 1);
            if (plane == 0) {
                return node;
            }
            first = tree_.planes[plane].first_child[node];
            end = tree_.planes[plane].first_child[node + 1];
        }
    }

    /// From now on, next_leaf() goes through the tree.
    __device__ void start() {
        plane_ = tree_.top;
        enter(0, tree_.planes[plane_].nodes);
    }

    /// The next leaf that may hold something before the bound, about the nearest first; -1 if there is none.
    __device__ std::int32_t next_leaf(RankKey<T> bound) {
        while (true) {
            const std::int64_t mine = std::int64_t{first_} + lane_;
            RankKey<T> key = no_candidate<T>();
            bool is_near = ((left_ >> lane_) & 1U) != 0 && mine < end_ && wanted_.is_open(plane_, mine);
            if (is_near) {
                key = key_of(plane_, mine);
                is_near = !(bound < key);
            }
            left_ = __ballot_sync(whole_warp, is_near);
            if (left_ == 0) {
                if (warp_size < end_ - first_) {
                    enter(first_ + warp_size, end_);
                } else if (plane_ == tree_.top) {
                    return -1;
                } else {
                    come_back();
                }
                continue;
            }
            const RankKey<T> least = least_of_warp(RankKey<T>::either(is_near, key, no_candidate<T>()));
            const unsigned with_least = __ballot_sync(whole_warp, is_near && !(least < key));
            const int chosen = __ffs(static_cast<int>(with_least)) - 1;
            left_ &= ~(1U << chosen);
            const std::int32_t node = first_ + chosen;
            if (plane_ == 0) {
                return node;
            }
            go_down(node);
        }
    }

private:
    __device__ RankKey<T> key_of(int plane, std::int64_t node) const {
        const PlaneView<T>& nodes = tree_.planes[plane];
        return {
            position_.least_squared_distance([&](int axis) { return nodes.lower_corners[axis * nodes.stride + node]; },
                                             [&](int axis) { return nodes.upper_corners[axis * nodes.stride + node]; }),
            nodes.smallest_index[node]};
    }

    __device__ void enter(std::int32_t first, std::int32_t end) {
        first_ = first;
        end_ = end;
        left_ = ~0U;
    }

    __device__ void go_down(std::int32_t node) {
        if (lane_ == plane_) {
            kept_first_ = first_;
            kept_end_ = end_;
            kept_left_ = left_;
        }
        const PlaneView<T>& nodes = tree_.planes[plane_];
        enter(nodes.first_child[node], nodes.first_child[node + 1]);
        --plane_;
    }

    __device__ void come_back() {
        ++plane_;
        first_ = __shfl_sync(whole_warp, kept_first_, plane_);
        end_ = __shfl_sync(whole_warp, kept_end_, plane_);
        left_ = __shfl_sync(whole_warp, kept_left_, plane_);
    }

    const TreeView<T>& tree_;
    const DevicePoint<T, D, Periodic>& position_;
    [[no_unique_address]] Wanted wanted_;
    int lane_;
    int plane_ = 0;
    std::int32_t first_ = 0; ///< of the nodes at hand, on this plane
    std::int32_t end_ = 0;
    unsigned left_ = 0;           ///< which of 32 nodes from the first on are still to be gone into
    std::int32_t kept_first_ = 0; ///< the same of plane `lane`
    std::int32_t kept_end_ = 0;
    unsigned kept_left_ = 0;
};

/// Calls offer(key, position) for all wanted points that may be among the nearest, the whole warp at once.
template <class T, int D, bool Periodic, class Wanted, class Nearest, class Offer>
__device__ void search_nodes(const TreeView<T>& tree, const DevicePoint<T, D, Periodic>& where,
                             NodeFinder<T, D, Periodic, Wanted>& nodes, Nearest& nearest, const Offer& offer,
                             int lane) {
    if (tree.top < 0) {
        return;
    }
    const auto search_leaf = [&](std::int32_t leaf) {
        const std::int64_t end = tree.planes[0].first_point[leaf + 1];
        for (std::int64_t i = tree.planes[0].first_point[leaf] + lane; i - lane < end; i += warp_size) {
            RankKey<T> key = no_candidate<T>();
            if (i < end && nodes.is_wanted(i)) {
                key = {where.squared_distance(
                           [&](int axis) { return tree.points.coordinates[axis * tree.points.stride + i]; }),
                       tree.points.indices[i]};
            }
            offer(key, i);
        }
    };
    const std::int32_t first_leaf = nodes.likely_leaf();
    bool is_first = true;
    for (std::int32_t leaf = first_leaf; leaf >= 0; leaf = nodes.next_leaf(nearest.bound())) {
        if (is_first || leaf != first_leaf) {
            search_leaf(leaf);
        }
        if (is_first) {
            nearest.flush();
            nodes.start();
            is_first = false;
        }
    }
}

inline constexpr int search_warps = 4; ///< of a block
/// Blocks at a time on a multiprocessor, at least: the most with which all values stay in registers. 7 leave 72 of
/// them, 6 leave 80, 5 leave 96, 4 leave 128.
template <class T, int D>
inline constexpr int search_tree_blocks = D * sizeof(T) <= 12   ? 7
                                          : D * sizeof(T) <= 28 ? 6
                                          : D * sizeof(T) <= 48 ? 5
                                                                : 4;

/// As many warps as there are queries, or fewer: each takes one after the other. Positions have 32 bits, which saves
/// registers: queries and warps together are fewer than 2^32.
template <class T, int D, bool Periodic, int Rows>
__global__ void __launch_bounds__(search_warps* warp_size, search_tree_blocks<T, D>)
    search_tree_kernel(const __grid_constant__ SearchKernelJob<T> job) {
    constexpr int size = search_warps * queue_size;
    __shared__ SharedArray<RankKey<T>, size> waiting;

    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const bool is_listed = job.only.rows != nullptr;
    const std::uint32_t queries = job.request.frame->is_refused ? 0
                                  : is_listed                   ? *job.only.count
                                                                : job.end_query - job.first_query;
    for (std::uint32_t position = blockIdx.x * search_warps + warp; position < queries;
         position += gridDim.x * search_warps) {
        const std::int32_t query =
            is_listed ? job.only.rows[position] : job.first_query + static_cast<std::int32_t>(position);
        const DevicePoint<T, D, Periodic> where(job.queries.coordinates + query, job.queries.stride,
                                                job.request.frame->period.data());
        NodeFinder<T, D, Periodic> nodes(job.sources, where);
        find_row<T, Rows>(job.request, waiting, warp * queue_size, {job.queries.indices[query], query},
                          [&](auto& nearest, const auto& offer) {
                              search_nodes(
                                  job.sources, where, nodes, nearest,
                                  [&](RankKey<T> key, std::int64_t /*point*/) { offer(key); }, lane);
                          });
    }
}

} // namespace kith::detail::inline KITH_GPU
