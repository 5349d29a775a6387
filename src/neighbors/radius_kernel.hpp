// Neighbors within a radius in the plane tree on a GPU: a warp takes the queries of a leaf, a lane for each.
//
// The warp walks through the source tree once for its queries. A node is opened if it is within the radius of one of
// them; for counts, one that lies as a whole within the radius of every query it is near is counted, not opened. Of a
// source leaf the lanes take a point each, and compare it with the queries near the leaf one after the other. Rows are
// counted first, then filled from their offsets on, in the order of the walk (row_order_kernel.hpp sorts them). Who
// only asks whether there are so many neighbors, or which of them has the lowest index (DBSCAN), has a query leave out
// what cannot matter any more. Bounds use the same operations as distances, so nothing needs slack.
#pragma once

#include "cuda/lane_bounds.hpp"
#include "geometry/distances_kernel.hpp"
#include "neighbors/device_request.hpp"
#include "tree/view.hpp"
#include "walk/depth_first.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// What is made of the sources within the radius of each query.
enum class RadiusTask {
    count,  ///< how many they are, or whether they are enough
    fill,   ///< rows of them
    lowest, ///< the lowest of their indices
};

template <class T>
struct RadiusKernelJob {
    PointSetView<T> queries;
    const std::int32_t* leaves = nullptr; ///< first query of each leaf
    std::int32_t first_leaf = 0;
    std::int32_t end_leaf = 0;
    TreeView<T> sources;
    bool exclude_self = false;
    T squared_radius = 0;             ///< of all queries, in working units
    const T* squared_radii = nullptr; ///< or else of each, by original index
    std::int32_t first_position = -1; ///< rows are those of sorted queries from this one on; -1: of original indices
    std::int64_t* counts = nullptr;   ///< by row, of the task count
    std::int64_t enough = std::numeric_limits<std::int64_t>::max(); ///< counting may stop there
    std::uint8_t* has_enough = nullptr;                             ///< by row, instead of the counts
    const std::int64_t* offsets = nullptr;                          ///< of the task fill: where rows begin
    DeviceRowMemory<T> rows;                                        ///< gets squared distances
    std::int32_t* lowest = nullptr; ///< by original index; queries are those with -1, which stays if there is none
    std::int32_t* times_lowest = nullptr; ///< by index of the source; added to
};

inline constexpr int radius_warps = 4; ///< of a block
/// Blocks at a time on a multiprocessor, at least: leaves 64 registers where a point takes few of them, else 128.
template <class T, int D>
inline constexpr int radius_blocks = D * sizeof(T) <= 16 ? 8 : 4;

/// Up to 32 queries that follow each other. All members are called by the whole warp.
template <class T, int D, bool Periodic, RadiusTask Task>
class RadiusRows {
public:
    __device__ RadiusRows(const RadiusKernelJob<T>& job, std::int32_t first, std::int32_t count)
        : job_(job), first_(first), lane_(static_cast<int>(threadIdx.x) % warp_size), index_(index_of_query(count)),
          has_query_(index_ >= 0), query_(query_of_lane(has_query_ ? lane_ : 0)) {
        squared_radius_ = job.squared_radii != nullptr && has_query_ ? job.squared_radii[index_] : job.squared_radius;
        squared_radius_ = has_query_ ? squared_radius_ : T(-1); // nothing is within it
    }

    __device__ void search() {
        const std::int32_t position = first_ + lane_;
        const std::int64_t row = job_.first_position < 0 ? index_ : position - job_.first_position;
        if constexpr (Task == RadiusTask::fill) {
            found_ = has_query_ ? job_.offsets[row] : 0;
        }
        if (job_.sources.top >= 0) {
            walk();
        }
        if (has_query_) {
            write(row);
        }
    }

private:
    using Point = DevicePoint<T, D, Periodic>;
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

    /// Of this lane; -1: it has no query.
    __device__ std::int32_t index_of_query(std::int32_t count) const {
        const std::int32_t index = lane_ < count ? job_.queries.indices[first_ + lane_] : -1;
        if constexpr (Task == RadiusTask::lowest) {
            return index >= 0 && job_.lowest[index] < 0 ? index : -1;
        }
        return index;
    }

    /// What was found; rows are written on the way.
    __device__ void write(std::int64_t row) const {
        if constexpr (Task == RadiusTask::count) {
            if (job_.has_enough != nullptr) {
                job_.has_enough[row] = found_ >= job_.enough ? 1 : 0;
            } else {
                job_.counts[row] = found_ - (job_.exclude_self ? 1 : 0);
            }
        } else if constexpr (Task == RadiusTask::lowest) {
            if (found_ != none) {
                job_.lowest[index_] = static_cast<std::int32_t>(found_);
                atomicAdd(job_.times_lowest + found_, 1);
            }
        }
    }

    __device__ Point query_of_lane(int lane) const {
        return {job_.queries.coordinates + first_ + lane, job_.queries.stride, job_.sources.period.data()};
    }

    __device__ void walk() {
        LaneBox<T, D> of_lane;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            const T x = job_.queries.coordinates[axis * job_.queries.stride + first_ + (has_query_ ? lane_ : 0)];
            of_lane.lower[axis] = of_lane.upper[axis] = x;
        }
        of_lane.template join<warp_size>();
        const DeviceBox<T, D, Periodic> box([&](int axis) { return of_lane.lower[axis]; },
                                            [&](int axis) { return of_lane.upper[axis]; }, job_.sources.period.data());
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
        bool is_near = !(squared_radius_ < query_.least_squared_distance(lower, upper));
        if constexpr (Task == RadiusTask::count) {
            is_near = is_near && found_ < job_.enough;
            const bool is_whole = query_.greatest_squared_distance(lower, upper) <= squared_radius_;
            if (__all_sync(whole_warp, is_whole || !is_near)) {
                found_ += is_whole ? nodes.points_in(node) : 0;
                return false;
            }
        } else if constexpr (Task == RadiusTask::lowest) {
            const std::int32_t lowest = nodes.smallest_index[node];
            is_near = is_near && lowest < found_;
            if (is_near && query_.greatest_squared_distance(lower, upper) <= squared_radius_) {
                found_ = lowest;
                is_near = false;
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
        const std::uint32_t end = job_.sources.planes[0].first_point[leaf + 1]; // unsigned: it may be run past
        for (std::uint32_t first = job_.sources.planes[0].first_point[leaf]; first < end; first += warp_size) {
            const bool has_point = lane_ < static_cast<int>(end - first);
            const auto point = static_cast<std::int32_t>(has_point ? first + lane_ : first);
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
                if constexpr (Task == RadiusTask::fill) {
                    const std::int32_t own = __shfl_sync(whole_warp, index_, lane);
                    is_within = is_within && !(job_.exclude_self && index == own);
                }
                const unsigned within = __ballot_sync(whole_warp, is_within);
                if constexpr (Task == RadiusTask::fill) {
                    const std::int64_t place =
                        __shfl_sync(whole_warp, found_, lane) + __popc(within & ((1U << lane_) - 1));
                    if (is_within) {
                        job_.rows.write(place, squared, index);
                    }
                }
                if constexpr (Task == RadiusTask::lowest) {
                    const std::int32_t lowest =
                        within != 0 ? least_of_lanes<warp_size>(is_within ? index : none) : none;
                    found_ = lane == lane_ && lowest < found_ ? lowest : found_;
                } else {
                    found_ += lane == lane_ ? __popc(within) : 0;
                }
            }
        }
    }

    const RadiusKernelJob<T>& job_;
    std::int32_t first_;
    int lane_;
    std::int32_t index_; ///< the original one of the query of this lane, as all that follow
    bool has_query_;
    Point query_;
    T squared_radius_;
    /// How many are within the radius, or where the next one goes, or the lowest index so far.
    std::int64_t found_ = Task == RadiusTask::lowest ? none : 0;
};

/// The grid has a warp for each leaf of the queries.
template <class T, int D, bool Periodic, RadiusTask Task>
__global__ void __launch_bounds__(radius_warps* warp_size, radius_blocks<T, D>)
    search_radius_kernel(const __grid_constant__ RadiusKernelJob<T> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    const std::int64_t leaf =
        job.first_leaf + std::int64_t{blockIdx.x} * radius_warps + static_cast<int>(threadIdx.x) / warp_size;
    if (leaf >= job.end_leaf) {
        return;
    }
    const std::uint32_t end = job.leaves[leaf + 1]; // unsigned: it may be run past
    for (std::uint32_t first = job.leaves[leaf]; first < end; first += warp_size) {
        RadiusRows<T, D, Periodic, Task>(job, static_cast<std::int32_t>(first),
                                         static_cast<int>(device_min(end - first, std::uint32_t{warp_size})))
            .search();
    }
}

} // namespace kith::detail::inline KITH_GPU
