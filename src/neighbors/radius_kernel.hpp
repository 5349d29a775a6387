// Neighbors within a radius in the plane tree on a GPU: a warp takes the queries of a leaf, a lane for each.
//
// The warp walks through the source tree once for its queries. A node is opened if it is within the radius of one of
// them; for counts, one that lies as a whole within the radius of every query it is near is counted, not opened. Of a
// source leaf the lanes take a point each, and compare it with the queries near the leaf one after the other. Rows are
// counted first, then filled from their offsets on, in the order of the walk (row_order_kernel.hpp sorts them). Bounds
// use the same operations as distances, so nothing needs slack.
#pragma once

#include "cuda/lane_bounds.hpp"
#include "geometry/distances_kernel.hpp"
#include "neighbors/device_request.hpp"
#include "tree/view.hpp"
#include "walk/depth_first.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct RadiusKernelJob {
    PointSetView<T> queries;
    const std::int32_t* leaves; ///< first query of each leaf
    std::int32_t first_leaf = 0;
    std::int32_t end_leaf = 0;
    TreeView<T> sources;
    bool exclude_self = false;
    T squared_radius = 0;             ///< of all queries, in working units
    const T* squared_radii = nullptr; ///< or else of each, by original index
    std::int32_t first_position = -1; ///< rows are those of sorted queries from this one on; -1: of original indices
    std::int64_t* counts = nullptr;   ///< by row, if they are asked for
    const std::int64_t* offsets = nullptr; ///< or else where rows begin
    DeviceRowMemory<T> rows;               ///< gets squared distances
};

inline constexpr int radius_warps = 4; ///< of a block
/// Blocks at a time on a multiprocessor, at least: leaves 64 registers where a point takes few of them, else 128.
template <class T, int D>
inline constexpr int radius_blocks = D * sizeof(T) <= 16 ? 8 : 4;

/// Up to 32 queries that follow each other. All members are called by the whole warp.
template <class T, int D, bool Periodic, bool Fills>
class RadiusRows {
public:
    __device__ RadiusRows(const RadiusKernelJob<T>& job, std::int32_t first, std::int32_t count)
        : job_(job), first_(first), lane_(static_cast<int>(threadIdx.x) % warp_size), has_query_(lane_ < count),
          query_(query_of_lane(has_query_ ? lane_ : 0)), index_(has_query_ ? job.queries.indices[first + lane_] : -1) {
        squared_radius_ = job.squared_radii != nullptr && has_query_ ? job.squared_radii[index_] : job.squared_radius;
        squared_radius_ = has_query_ ? squared_radius_ : T(-1); // nothing is within it
    }

    __device__ void search() {
        const std::int32_t position = first_ + lane_;
        const std::int64_t row = job_.first_position < 0 ? index_ : position - job_.first_position;
        found_ = Fills && has_query_ ? job_.offsets[row] : 0;
        if (job_.sources.top >= 0) {
            walk();
        }
        if (!Fills && has_query_) {
            job_.counts[row] = found_ - (job_.exclude_self ? 1 : 0);
        }
    }

private:
    using Point = DevicePoint<T, D, Periodic>;

    __device__ Point query_of_lane(int lane) const {
        return {job_.queries.coordinates + first_ + lane, job_.queries.stride, job_.sources.period.data()};
    }

    __device__ void walk() {
        T lower[D];
        T upper[D];
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            const T x = job_.queries.coordinates[axis * job_.queries.stride + first_ + (has_query_ ? lane_ : 0)];
            lower[axis] = x;
            upper[axis] = x;
        }
        join_boxes_of_lanes<warp_size>(lower, upper);
        const DeviceBox<T, D, Periodic> box([&](int axis) { return lower[axis]; },
                                            [&](int axis) { return upper[axis]; }, job_.sources.period.data());
        const T reach = greatest_of_lanes<warp_size>(squared_radius_);
        walk_depth_first(
            job_.sources,
            [&](int plane, std::int32_t node) {
                const PlaneView<T>& nodes = job_.sources.planes[plane];
                return !(reach < box.least_squared_distance(
                                     [&](int axis) { return nodes.lower_corners[axis * nodes.stride + node]; },
                                     [&](int axis) { return nodes.upper_corners[axis * nodes.stride + node]; }));
            },
            [&](int plane, std::int32_t node) { return open(plane, node); });
    }

    /// Whether to go on to a node's children.
    __device__ bool open(int plane, std::int32_t node) {
        const PlaneView<T>& nodes = job_.sources.planes[plane];
        const auto lower = [&](int axis) { return nodes.lower_corners[axis * nodes.stride + node]; };
        const auto upper = [&](int axis) { return nodes.upper_corners[axis * nodes.stride + node]; };
        const bool is_near = !(squared_radius_ < query_.least_squared_distance(lower, upper));
        if constexpr (!Fills) {
            const bool is_whole = query_.greatest_squared_distance(lower, upper) <= squared_radius_;
            if (__all_sync(whole_warp, is_whole || !is_near)) {
                found_ += is_whole ? nodes.points_in(node) : 0;
                return false;
            }
        }
        const unsigned near = __ballot_sync(whole_warp, is_near);
        if (plane == 0 && near != 0) {
            compare(near, node);
        }
        return near != 0;
    }

    /// Compares the points of a leaf with the queries of some lanes.
    __device__ void compare(unsigned queries, std::int32_t leaf) {
        const PointSetView<T>& points = job_.sources.points;
        const std::int32_t end = job_.sources.planes[0].first_point[leaf + 1];
        for (std::int32_t first = job_.sources.planes[0].first_point[leaf]; first < end; first += warp_size) {
            const bool has_point = lane_ < end - first;
            const std::int32_t point = has_point ? first + lane_ : first;
            T x[D];
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                x[axis] = points.coordinates[axis * points.stride + point];
            }
            const std::int32_t index = points.indices[point];
            for (unsigned left = queries; left != 0; left &= left - 1) {
                const int lane = __ffs(static_cast<int>(left)) - 1;
                const T squared = query_of_lane(lane).squared_distance([&](int axis) { return x[axis]; });
                const T limit = __shfl_sync(whole_warp, squared_radius_, lane);
                bool is_within = has_point && squared <= limit;
                if constexpr (Fills) {
                    const std::int32_t own = __shfl_sync(whole_warp, index_, lane);
                    is_within = is_within && !(job_.exclude_self && index == own);
                }
                const unsigned within = __ballot_sync(whole_warp, is_within);
                if constexpr (Fills) {
                    const std::int64_t place =
                        __shfl_sync(whole_warp, found_, lane) + __popc(within & ((1U << lane_) - 1));
                    if (is_within) {
                        job_.rows.write(place, squared, index);
                    }
                }
                found_ += lane == lane_ ? __popc(within) : 0;
            }
        }
    }

    const RadiusKernelJob<T>& job_;
    std::int32_t first_;
    int lane_;
    bool has_query_;
    Point query_;        ///< of this lane, as all that follow
    std::int32_t index_; ///< the original one
    T squared_radius_;
    std::int64_t found_ = 0; ///< how many are within the radius, or where the next one goes
};

/// The grid has a warp for each leaf of the queries.
template <class T, int D, bool Periodic, bool Fills>
__global__ void __launch_bounds__(radius_warps* warp_size, radius_blocks<T, D>)
    search_radius_kernel(const __grid_constant__ RadiusKernelJob<T> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    const std::int64_t leaf =
        job.first_leaf + std::int64_t{blockIdx.x} * radius_warps + static_cast<int>(threadIdx.x) / warp_size;
    if (leaf >= job.end_leaf) {
        return;
    }
    const std::int32_t end = job.leaves[leaf + 1];
    for (std::int32_t first = job.leaves[leaf]; first < end; first += warp_size) {
        RadiusRows<T, D, Periodic, Fills>(job, first, device_min(end - first, std::int32_t{warp_size})).search();
    }
}

} // namespace kith::detail::inline KITH_GPU
