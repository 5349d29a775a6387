// Finding the frame of points on a GPU, once their bounds are known (resolve_frame.hpp's rule), by one warp; what is
// refused goes to a status, since no host is there to throw it.
//
// Where something is refused, what is written does no harm: keys in any order, coordinates that nobody reads.
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
    DeviceKeyEncoder<T, D>* encoder;
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
    box.template join<warp_size>();
    first_not_finite = least_of_lanes<warp_size>(first_not_finite);
    std::array<T, max_dimension> lower{};
    std::array<T, max_dimension> upper{};
#pragma unroll
    for (int axis = 0; axis < D; ++axis) { // no points: 0
        lower[axis] = job.parts > 0 ? box.lower[axis] : T(0);
        upper[axis] = job.parts > 0 ? box.upper[axis] : T(0);
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
    bool wraps = false;
    if (!is_refused) {
        wraps = !all_inside(frame, lower, upper);
        cell = cell_of<T, D>(frame, lower, upper, wraps);
    }
    DeviceFrame<T> resolved(frame, wraps);
    resolved.is_refused = is_refused;
    *job.frame = resolved;
    *job.encoder = DeviceKeyEncoder<T, D>(cell.top_exponent, cell.sign_exponent);
}

} // namespace kith::detail::inline KITH_GPU
