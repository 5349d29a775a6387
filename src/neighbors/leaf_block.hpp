// The points near a leaf, gathered by a warp into its part of shared memory.
//
// The warp goes down the planes of the source tree with the nodes side by side in its lanes: on each, the children of the
// nodes within the radius are tested and the near ones listed; below the leaves, points are tested in the same way.
// Lists and block have room for what leaves usually need; where that is not enough, it is said.
#pragma once

#include "cuda/warp_ranges.hpp"
#include "geometry/distances_kernel.hpp"
#include "neighbors/rank_key.hpp"
#include "neighbors/warp_top_k.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

inline constexpr int leaf_warps = 2;      ///< of a block of threads
inline constexpr int max_near = 96;       ///< nodes of a plane within the radius
inline constexpr int points_at_once = 8;  ///< that a lane measures between looks at its column
inline constexpr int max_positions = 512; ///< in a block: so many a key tells apart

/// A point near a leaf, read whole.
template <class T, int D>
struct alignas(D * sizeof(T) + sizeof(std::int32_t) <= 16 ? 16 : 8) BlockPoint {
    T x[D];
    std::int32_t index;
};

/// How many points a lane can collect for a list of so many neighbors: those within the radius of its leaf, which are
/// some twice as many as the list is long.
template <int List>
inline constexpr int max_collected = List <= 16 ? 60 : 92;

/// Longer lists are not found by lanes.
template <int List>
inline constexpr bool fits_lane = List <= warp_size;

/// Shared memory of one warp.
template <class T, int D, int List>
struct LeafMemory {
    static constexpr int max_points = 8192 / sizeof(BlockPoint<T, D>);
    static constexpr int column_words = (max_collected<List> + points_at_once) * warp_size;
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

    __device__ LeafBlock(const TreeView<T>& tree, Memory& memory)
        : tree_(tree), memory_(memory), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

    /// Gathers all points within a squared radius of a box. False if they, or the nodes that hold them, are too many.
    __device__ bool gather(const Box& box, T radius) {
        __syncwarp(); // nobody reads the last block any more
        size_ = 0;
        int first = 0; // where the list of the plane above is
        int listed = 0;
        for (int plane = tree_.top; plane >= 0; --plane) {
            const int to = max_near - first;
            int found = 0;
            const auto list = [&](std::int32_t node, bool is_one) {
                return keep(box, radius, tree_.planes[plane], node, is_one, to, found);
            };
            bool fits = true;
            for (int i = 0; fits && (plane == tree_.top ? i == 0 : i < listed); i += warp_size) {
                std::int32_t start = 0;
                std::int32_t count = 0;
                if (plane == tree_.top) {
                    count = lane_ == 0 ? tree_.planes[plane].nodes : 0;
                } else if (i + lane_ < listed) {
                    const auto parent = static_cast<std::int32_t>(memory_.words[first + i + lane_]);
                    start = tree_.planes[plane + 1].first_child[parent];
                    count = tree_.planes[plane + 1].first_child[parent + 1] - start;
                }
                fits = visit_ranges(start, count, list);
            }
            __syncwarp();
            if (!fits) {
                return false;
            }
            first = to;
            listed = found;
        }
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
        if (lane_ < points_at_once) { // no candidate, so that points can be read together
            BlockPoint<T, D> none;
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                none.x[axis] = std::numeric_limits<T>::infinity();
            }
            none.index = std::numeric_limits<std::int32_t>::max();
            memory_.points[size_ + lane_] = none;
        }
        __syncwarp();
        return fits;
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
    /// How many lanes before this one are in a mask.
    [[nodiscard]] __device__ int before(unsigned lanes) const {
        return __popc(lanes & ((1U << lane_) - 1));
    }

    /// Lists the nodes of the lanes that are within the radius. False if there is no room.
    __device__ bool keep(const Box& box, T radius, const PlaneView<T>& plane, std::int32_t node, bool is_one, int to,
                         int& found) {
        const bool is_near =
            is_one && !(radius < box.least_squared_distance(
                                     [&](int axis) { return plane.lower_corners[axis * plane.stride + node]; },
                                     [&](int axis) { return plane.upper_corners[axis * plane.stride + node]; }));
        const unsigned near = __ballot_sync(whole_warp, is_near);
        if (found + __popc(near) > max_near) {
            return false;
        }
        if (is_near) {
            memory_.words[to + found + before(near)] = static_cast<std::uint32_t>(node);
        }
        found += __popc(near);
        return true;
    }

    /// Takes in the points of the lanes that are within the radius. False if there is no room.
    __device__ bool take(const Box& box, T radius, std::int32_t point, bool is_one) {
        const PointSetView<T>& points = tree_.points;
        BlockPoint<T, D> taken;
        bool is_near = false;
        if (is_one) {
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                taken.x[axis] = points.coordinates[axis * points.stride + point];
            }
            const auto coordinate = [&](int axis) { return taken.x[axis]; };
            is_near = !(radius < box.least_squared_distance(coordinate, coordinate));
        }
        const unsigned near = __ballot_sync(whole_warp, is_near);
        if (size_ + __popc(near) > Memory::max_points - points_at_once) {
            return false;
        }
        if (is_near) {
            taken.index = points.indices[point];
            memory_.points[size_ + before(near)] = taken;
        }
        size_ += __popc(near);
        return true;
    }

    const TreeView<T>& tree_;
    Memory& memory_;
    int lane_;
    int size_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
