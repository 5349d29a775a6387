// Finding the frame of points on a GPU, once their bounds are known (resolve_frame.hpp's rule), by one warp; what is
// refused goes to a status, since no host is there to throw it.
//
// Where something is refused, what is written does no harm: keys in any order, coordinates that nobody reads.
//
// Keys are relative to a cell that holds most parts of the points, not all: ten points a billion times as far out as a
// million others are wide would leave these one key, hence no order, and the search all pairs.
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/lane_bounds.hpp"
#include "order/key_kernel.hpp"
#include "order/root_cell.hpp"
#include "points/device_view.hpp"
#include "points/resolve_frame.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <class T, int D>
struct ResolveFrameJob {
    DeviceView<T> points;        ///< raw coordinates are read
    const PointBounds<T>* found; ///< of the parts of the points
    std::int64_t parts;
    PlainBox box;
    const DeviceFrame<T>* sources; ///< null if these are the sources
    DeviceFrame<T>* frame;
    KeysWithin<T, D>* key_of;
    DeviceStatus* status; ///< written for sources, and for queries that are refused
};

/// The first coordinate of a point that is not finite.
template <class T>
__device__ DeviceStatus not_finite(const DeviceView<T>& points, std::int64_t point, int dimension, PointError refusal) {
    for (int axis = 0; axis < dimension; ++axis) {
        const T x = points.raw(point, axis);
        if (!(x * 0 == 0)) {
            return {refusal, axis, point, static_cast<double>(x)};
        }
    }
    return {};
}

/// The first query that is as far away as the bounds of an axis. To be called by the whole warp.
template <class T>
__device__ DeviceStatus too_far(const DeviceView<T>& queries, int axis, T farthest) {
    std::int64_t first = queries.count;
    for (std::int64_t i = static_cast<int>(threadIdx.x) % warp_size; i < first; i += warp_size) {
        if (magnitude_of(queries.raw(i, axis)) == farthest) {
            first = i;
        }
    }
    __syncwarp();
    first = least_of_lanes<warp_size>(first);
    return {PointError::queries_too_far, axis, first, static_cast<double>(queries.raw(first, axis))};
}

/// The lesser half of the numbers ends with it, of the first so many lanes. To be called by the whole warp.
template <class T>
__device__ T median_of_lanes(T number, int lanes) {
    const int own = static_cast<int>(threadIdx.x) % warp_size;
    int rank = 0;
#pragma unroll 1
    for (int lane = 0; lane < lanes; ++lane) {
        const T other = __shfl_sync(whole_warp, number, lane);
        rank += other < number || (other == number && lane < own) ? 1 : 0;
    }
    const unsigned is_median = __ballot_sync(whole_warp, own < lanes && rank == (lanes - 1) / 2);
    const int lane = __ffs(static_cast<int>(is_median)) - 1; // none of numbers that are none; then any will do
    return __shfl_sync(whole_warp, number, device_max(lane, 0));
}

/// Bounds of most points: each lane has seen some parts of them, from here and there.
template <class T, int D>
__device__ LaneBox<T, D> box_of_most(const LaneBox<T, D>& of_lane, std::int64_t parts) {
    const int lanes = parts < warp_size ? static_cast<int>(parts) : warp_size;
    LaneBox<T, D> box;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        box.add(axis, median_of_lanes(of_lane.lower[axis], lanes), -median_of_lanes(-of_lane.upper[axis], lanes));
    }
    return box;
}

/// One warp.
template <class T, int D>
__global__ void __launch_bounds__(warp_size) resolve_frame_kernel(const __grid_constant__ ResolveFrameJob<T, D> job) {
    LaneBox<T, D> box;
    std::int64_t first_not_finite = all_are_finite;
    for (std::int64_t part = static_cast<int>(threadIdx.x); part < job.parts; part += warp_size) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            box.add(axis, job.found[part].lower[axis], job.found[part].upper[axis]);
        }
        first_not_finite = device_min(first_not_finite, job.found[part].first_not_finite);
    }
    __syncwarp();
    const LaneBox<T, D> of_most = job.parts > 0 ? box_of_most(box, job.parts) : LaneBox<T, D>();
    box.template join<warp_size>();
    first_not_finite = least_of_lanes<warp_size>(first_not_finite);
    std::array<T, max_dimension> lower{};
    std::array<T, max_dimension> upper{};
    std::array<T, max_dimension> lower_of_most{};
    std::array<T, max_dimension> upper_of_most{};
#pragma unroll
    for (int axis = 0; axis < D; ++axis) { // no points: 0
        lower[axis] = job.parts > 0 ? box.lower[axis] : T(0);
        upper[axis] = job.parts > 0 ? box.upper[axis] : T(0);
        lower_of_most[axis] = job.parts > 0 ? of_most.lower[axis] : T(0);
        upper_of_most[axis] = job.parts > 0 ? of_most.upper[axis] : T(0);
    }

    const bool are_sources = job.sources == nullptr;
    Frame<T> frame;
    DeviceStatus status;
    bool is_refused = !are_sources && job.sources->is_refused; // and the status is written
    if (!is_refused) {
        if (!are_sources) {
            frame = job.sources->frame;
        }
        if (first_not_finite != all_are_finite) {
            status = not_finite(job.points, first_not_finite, D,
                                are_sources ? PointError::points_not_finite : PointError::queries_not_finite);
        } else if (are_sources) {
            status = resolve_frame(job.box, D, lower, upper, frame);
        } else if (const int axis = job.parts > 0 ? axis_too_far(frame, lower, upper) : -1; axis >= 0) {
            status = too_far(job.points, axis, device_max(magnitude_of(lower[axis]), magnitude_of(upper[axis])));
        }
        is_refused = status.refusal != PointError::none;
    }
    if (threadIdx.x != 0) {
        return;
    }
    if (are_sources || status.refusal != PointError::none) {
        *job.status = status;
    }
    constexpr int any_exponent = 1 << 20; // with it, all that a key takes is shifts
    RootCell cell{0, any_exponent};
    Corners<T, D> corners;
    bool wraps = false;
    if (!is_refused) {
        wraps = !all_inside(frame, lower, upper);
        corners = corners_of<T, D>(frame, lower_of_most, upper_of_most, wraps);
        cell = cell_of(corners);
    }
    DeviceFrame<T> resolved(frame, wraps);
    resolved.is_refused = is_refused;
    *job.frame = resolved;
    *job.key_of = KeysWithin<T, D>(corners, cell);
}

} // namespace kith::detail::inline KITH_GPU
