// The points near a leaf, gathered by a warp into its part of shared memory.
//
// The warp goes down the planes of the source tree with the nodes side by side in its lanes: on each, the children of
// the nodes within the radius are tested and the near ones listed; below the leaves, points are tested in the same way.
// Down to the parents of leaves, this is done once for the leaves that a warp searches one after the other. Lists and
// block have room for what leaves usually need; where that is not enough, it is said.
#pragma once

#include "cuda/lane_bounds.hpp"
#include "cuda/warp_ranges.hpp"
#include "geometry/distances_kernel.hpp"
#include "neighbors/rank_key.hpp"
#include "neighbors/warp_top_k.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

inline constexpr int leaf_warps = 2;      ///< of a block of threads
inline constexpr int max_near = 256;      ///< nodes of a plane within the radius
inline constexpr int points_at_once = 8;  ///< that a lane measures between looks at its column, a power of two
inline constexpr int max_positions = 512; ///< in a block: so many a key tells apart

/// A point near a leaf, read whole.
template <class T, int D>
struct alignas(D * sizeof(T) + sizeof(std::int32_t) <= 16 ? 16 : 8) BlockPoint {
    T x[D];
    std::int32_t index;
};

/// Longer lists are not found by lanes.
template <int List>
inline constexpr bool fits_lane = List <= warp_size;

/// Shared memory of one warp.
///
/// The latency of instructions bounds the search: more warps at a time are worth more than room for what few leaves
/// need. So for short lists of points of 16 bytes, whose registers would let 16 warps run on a multiprocessor, it is
/// little enough for 14 (H200: 1e7 uniform points with k = 16 in 9.0 instead of 10.4 ms with 12, clustered ones in 34.4
/// instead of 36.4; with 16 and 384 points 8.9 and 35.2).
template <class T, int D, int List>
struct LeafMemory {
    static constexpr bool saves = List <= 16 && sizeof(BlockPoint<T, D>) <= 16;
    static constexpr int max_points =
        (saves ? 7168 : 8192) / sizeof(BlockPoint<T, D>) / points_at_once * points_at_once;
    /// How many points a lane collects before it keeps but a list of so many neighbors: usually all within the radius
    /// of its leaf, which are some twice as many as the list is long.
    static constexpr int max_collected = saves ? 40 : List <= 16 ? 60 : 92;
    static constexpr int column_words = (max_collected + points_at_once) * warp_size;
    static constexpr int row_words = (1 + sizeof(T) / sizeof(std::uint32_t)) * (List + 1) * warp_size;
    static_assert(max_points <= max_positions);

    SharedArray<BlockPoint<T, D>, max_points> points;
    /// While points are gathered, the nodes near the leaf, two lists in turn; then columns of keys; then rows.
    SharedArray<std::uint32_t, !fits_lane<List>           ? 2 * max_near
                               : column_words < row_words ? row_words
                                                          : column_words>
        words;
    SharedArray<RankKey<T>, queue_size> waiting;
};

/// Points near a leaf, in a warp's shared memory.
template <class T, int D, bool Periodic, int List>
class LeafBlock {
public:
    using Memory = LeafMemory<T, D, List>;
    using Box = DeviceBox<T, D, Periodic>;

    /// For boxes that lie in those of some leaves.
    __device__ LeafBlock(const TreeView<T>& tree, const Periods<T>& period, Memory& memory, const PlaneView<T>& leaves,
                         std::int32_t first_leaf, std::int32_t end_leaf)
        : tree_(tree), period_(period), memory_(memory), lane_(static_cast<int>(threadIdx.x) % warp_size),
          leaves_(leaves), first_leaf_(first_leaf), end_leaf_(end_leaf),
          may_share_(tree.top > shared_plane && end_leaf - first_leaf <= warp_size) {}

    /// Gathers all points within a squared radius of a box. False if they, or the nodes that hold them, are too many.
    __device__ bool gather(const Box& box, T radius) {
        __syncwarp(); // nobody reads the last block any more
        size_ = 0;
        if (may_share_ && shared_radius_ < radius) {
            share(radius * 2);
        }
        ListedNodes near = all_nodes();
        if ((may_share_ && !list_shared(box, radius, near)) || !list_down_to(0, box, radius, near)) {
            return false;
        }
        const int first = near.first;
        const int listed = near.count;
        const std::int32_t* first_point = tree_.planes[0].first_point;
        bool fits = true;
        for (int i = 0; fits && i < listed; i += warp_size) {
            std::int32_t start = 0;
            std::int32_t count = 0;
            if (i + lane_ < listed) {
                const auto leaf = static_cast<std::int32_t>(memory_.words[first + i + lane_]);
                start = first_point[leaf];
                count = first_point[leaf + 1] - start;
            }
            fits = visit_ranges(start, count,
                                [&](std::int32_t point, bool is_one) { return take(box, radius, point, is_one); });
        }
        if (!fits) {
            return false;
        }
        // No candidates, so that points can be read together, also by lanes that are past the end.
        if (lane_ < 2 * points_at_once && size_ + lane_ < Memory::max_points) {
            BlockPoint<T, D> none;
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                none.x[axis] = std::numeric_limits<T>::infinity();
            }
            none.index = std::numeric_limits<std::int32_t>::max();
            memory_.points[size_ + lane_] = none;
        }
        __syncwarp();
        return true;
    }

    [[nodiscard]] __device__ int size() const {
        return size_;
    }
    /// The candidate at a position of the block for a query.
    __device__ RankKey<T> candidate(const DevicePoint<T, D, Periodic>& query, int position) {
        const BlockPoint<T, D> point = memory_.points[position];
        return {query.squared_distance([&](int axis) { return point.x[axis]; }), point.index};
    }

private:
    static constexpr int shared_plane = 1;

    /// Nodes of a plane in a list; above the top plane, there is one that is all nodes' parent.
    struct ListedNodes {
        int plane;
        int first; ///< where they are in shared memory
        int count;
    };
    [[nodiscard]] __device__ ListedNodes all_nodes() const {
        return {tree_.top + 1, 0, tree_.top < 0 ? 0 : 1};
    }

    /// Lists the nodes of a plane within a squared radius of a box, from those of a coarser one. False if they are too
    /// many.
    __device__ bool list_down_to(int last_plane, const Box& box, T radius, ListedNodes& listed) {
        while (listed.plane > last_plane) {
            ListedNodes children{listed.plane - 1, max_near - listed.first, 0};
            const PlaneView<T>& plane = tree_.planes[children.plane];
            bool fits = true;
            for (int i = 0; fits && i < listed.count; i += warp_size) {
                std::int32_t start = 0;
                std::int32_t count = 0;
                if (i + lane_ < listed.count) {
                    if (listed.plane > tree_.top) {
                        count = plane.nodes;
                    } else {
                        const std::int32_t* first_child = tree_.planes[listed.plane].first_child;
                        const auto parent = static_cast<std::int32_t>(memory_.words[listed.first + i + lane_]);
                        start = first_child[parent];
                        count = first_child[parent + 1] - start;
                    }
                }
                fits = visit_ranges(start, count, [&](std::int32_t node, bool is_one) {
                    return keep(box, radius, plane, node, is_one, children);
                });
            }
            __syncwarp();
            if (!fits) {
                return false;
            }
            listed = children;
        }
        return true;
    }

    /// Lists the nodes within a squared radius of the box of all leaves, to start from for each, or does no more so if
    /// they are too many. Bounds are monotonic: what is near a leaf's box is near this.
    __device__ void share(T radius) {
        LaneBox<T, D> of_lane;
        const std::int32_t leaf = device_min(first_leaf_ + lane_, end_leaf_ - 1);
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            of_lane.lower[axis] = leaves_.lower(axis)[leaf];
            of_lane.upper[axis] = leaves_.upper(axis)[leaf];
        }
        of_lane.template join<warp_size>();
        const Box box([&](int axis) { return of_lane.lower[axis]; }, [&](int axis) { return of_lane.upper[axis]; },
                      period_.data());
        ListedNodes near = all_nodes();
        may_share_ = list_down_to(shared_plane, box, radius, near) && near.count <= 2 * warp_size;
        if (may_share_) {
            shared_radius_ = radius;
            shared_count_ = near.count;
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int position = i * warp_size + lane_;
                shared_[i] =
                    position < near.count ? static_cast<std::int32_t>(memory_.words[near.first + position]) : 0;
            }
            __syncwarp();
        }
    }

    /// Lists those of the shared nodes that are within a squared radius of a box.
    __device__ bool list_shared(const Box& box, T radius, ListedNodes& listed) {
        listed = {shared_plane, 0, 0};
        bool fits = true;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            if (fits && i * warp_size < shared_count_) {
                fits = keep(box, radius, tree_.planes[shared_plane], shared_[i], i * warp_size + lane_ < shared_count_,
                            listed);
            }
        }
        __syncwarp();
        return fits;
    }

    /// How many lanes before this one are in a mask.
    [[nodiscard]] __device__ int before(unsigned lanes) const {
        return __popc(lanes & ((1U << lane_) - 1));
    }

    /// Lists the nodes of the lanes that are within the radius. False if there is no room.
    __device__ bool keep(const Box& box, T radius, const PlaneView<T>& plane, std::int32_t node, bool is_one,
                         ListedNodes& listed) {
        const bool is_near =
            is_one && !(radius < box.least_squared_distance(
                                     [&](int axis) { return plane.lower_corners[axis * plane.stride + node]; },
                                     [&](int axis) { return plane.upper_corners[axis * plane.stride + node]; }));
        const unsigned near = __ballot_sync(whole_warp, is_near);
        const int position = listed.count + before(near);
        if (is_near && position < max_near) {
            memory_.words[listed.first + position] = static_cast<std::uint32_t>(node);
        }
        listed.count += __popc(near);
        return listed.count <= max_near;
    }

    /// Takes in the points of the lanes that are within the radius. False if there is no room. A lane without a point
    /// reads that of another, which costs less than a branch.
    __device__ bool take(const Box& box, T radius, std::int32_t point, bool is_one) {
        constexpr int max_taken = Memory::max_points - points_at_once;
        const PointSetView<T>& points = tree_.points;
        BlockPoint<T, D> taken;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            taken.x[axis] = points.coordinates[axis * points.stride + point];
        }
        taken.index = points.indices[point]; // of far ones, too: behind the ballot it would be waited for once more
        const auto coordinate = [&](int axis) { return taken.x[axis]; };
        const T squared = box.least_squared_distance(coordinate, coordinate);
        const bool is_near = is_one && !(radius < squared);
        const unsigned near = __ballot_sync(whole_warp, is_near);
        const int position = size_ + before(near);
        if (is_near && position < max_taken) {
            memory_.points[position] = taken;
        }
        size_ += __popc(near);
        return size_ <= max_taken;
    }

    const TreeView<T>& tree_;
    const Periods<T>& period_;
    Memory& memory_;
    int lane_;
    int size_ = 0;
    const PlaneView<T>& leaves_;
    std::int32_t first_leaf_;
    std::int32_t end_leaf_;
    bool may_share_;
    T shared_radius_ = -1; ///< squared
    int shared_count_ = 0;
    std::int32_t shared_[2]; ///< nodes within that radius of any of the leaves, two a lane
};

} // namespace kith::detail::inline KITH_GPU
