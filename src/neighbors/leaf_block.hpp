// The points near a leaf, gathered by a warp into its part of shared memory.
//
// The warp goes down the planes of the source tree with the nodes side by side in its lanes: on each, the children of the
// nodes within the radius are tested and the near ones listed; below the leaves, points are tested in the same way.
// Lists and block have room for what leaves usually need; where that is not enough, it is said.
#pragma once

#include "cuda/warp_ranges.hpp"
#include "geometry/distances_kernel.hpp"
#include "neighbors/rank_key.hpp"
#include "tree/view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

inline constexpr int leaf_warps = 4; ///< of a block of threads
inline constexpr int max_near =
    96; ///< nodes of a plane within the radius; so, six blocks fit a multiprocessor of 228 KiB

/// Points that a block has room for: 8 KiB of a warp.
template <class T, int D>
inline constexpr int max_gathered = 8192 / (D * sizeof(T) + sizeof(std::int32_t)) / warp_size* warp_size;

/// Points near a leaf, in a warp's part of shared arrays.
template <class T, int D, bool Periodic>
class LeafBlock {
public:
    static constexpr int most = max_gathered<T, D>;
    using Coordinates = SharedArray<T, leaf_warps * D * most>;
    using Numbers = SharedArray<std::int32_t, leaf_warps * most>;
    using Nodes = SharedArray<std::int32_t, leaf_warps * 2 * max_near>;
    using Box = DeviceBox<T, D, Periodic>;

    __device__ LeafBlock(const TreeView<T>& tree, Coordinates& coordinates, Numbers& indices, Nodes& nodes)
        : tree_(tree), coordinates_(coordinates), indices_(indices), nodes_(nodes),
          lane_(static_cast<int>(threadIdx.x) % warp_size), warp_(static_cast<int>(threadIdx.x) / warp_size) {}

    /// Gathers all points within a squared radius of a box. False if they, or the nodes that hold them, are too many.
    __device__ bool gather(const Box& box, T radius) {
        __syncwarp(); // nobody reads the last block any more
        size_ = 0;
        if (tree_.top < 0) {
            return true;
        }
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
                    const std::int32_t parent = nodes_[node_position(first + i + lane_)];
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
                const std::int32_t leaf = nodes_[node_position(first + i + lane_)];
                start = first_point[leaf];
                count = first_point[leaf + 1] - start;
            }
            fits = visit_ranges(start, count,
                                [&](std::int32_t point, bool is_one) { return take(box, radius, point, is_one); });
        }
        __syncwarp();
        return fits;
    }

    [[nodiscard]] __device__ int size() const { return size_; }

    /// The candidate at a position of the block for a query.
    __device__ RankKey<T> candidate(const DevicePoint<T, D, Periodic>& query, int position) {
        return {
            query.squared_distance([&](int axis) -> T { return coordinates_[coordinate_position(axis, position)]; }),
            static_cast<std::int32_t>(indices_[warp_ * most + position])};
    }

private:
    [[nodiscard]] __device__ int node_position(int i) const { return warp_ * 2 * max_near + i; }
    [[nodiscard]] __device__ int coordinate_position(int axis, int position) const {
        return (warp_ * D + axis) * most + position;
    }
    /// How many lanes before this one are in a mask.
    [[nodiscard]] __device__ int before(unsigned lanes) const { return __popc(lanes & ((1U << lane_) - 1)); }

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
            nodes_[node_position(to + found + before(near))] = node;
        }
        found += __popc(near);
        return true;
    }

    /// Takes in the points of the lanes that are within the radius. False if there is no room.
    __device__ bool take(const Box& box, T radius, std::int32_t point, bool is_one) {
        const PointSetView<T>& points = tree_.points;
        T position[D];
        bool is_near = false;
        if (is_one) {
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                position[axis] = points.coordinates[axis * points.stride + point];
            }
            const auto coordinate = [&](int axis) { return position[axis]; };
            is_near = !(radius < box.least_squared_distance(coordinate, coordinate));
        }
        const unsigned near = __ballot_sync(whole_warp, is_near);
        if (size_ + __popc(near) > most) {
            return false;
        }
        if (is_near) {
            const int to = size_ + before(near);
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                coordinates_[coordinate_position(axis, to)] = position[axis];
            }
            indices_[warp_ * most + to] = points.indices[point];
        }
        size_ += __popc(near);
        return true;
    }

    const TreeView<T>& tree_;
    Coordinates& coordinates_;
    Numbers& indices_;
    Nodes& nodes_;
    int lane_;
    int warp_;
    int size_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
