// What a GPU does for a host that asks for some of its points (part_points.hpp): a thread for each row.
#pragma once

#include "cuda/intrinsics.hpp"
#include "geometry/distances_kernel.hpp"
#include "points/device_view.hpp"
#include "points/part_points.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Whether each point lies outside a periodic axis.
template <class T, int D>
struct FlagOutside {
    DeviceView<T> points;
    std::uint8_t* flags;

    __device__ void operator()(std::int64_t i) const {
        bool inside = true;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            inside = inside && points.frame->frame.is_inside(points.raw(i, axis), axis);
        }
        flags[i] = inside ? 0 : 1;
    }
};

/// Rows of points, and -1 - rows of others, as given.
template <class T, int D>
struct JoinRows {
    Coordinates<T> points;
    const T* others; ///< row-major
    const std::int32_t* which;
    T* to; ///< row-major

    __device__ void operator()(std::int64_t i) const {
        const std::int64_t row = which[i];
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            to[i * D + axis] = row >= 0 ? points(row, axis) : others[(-1 - row) * D + axis];
        }
    }
};

/// PartPoints::least_squares, with the bits of the host's distances between boxes and points.
template <class T, int D>
struct LeastSquares {
    DeviceView<T> points;
    const ReachingBox<T>* boxes;
    const std::int32_t* rows;
    const std::int32_t* list_of_row;
    const std::int32_t* box_numbers;
    const std::int64_t* first_number;
    T* least;

    __device__ void operator()(std::int64_t i) const {
        const std::int32_t row = rows[i];
        const std::array<T, D> x = points.template position<D>(row);
        const std::int64_t end = first_number[list_of_row[i] + 1];
        T found = std::numeric_limits<T>::infinity();
        for (std::int64_t number = first_number[list_of_row[i]]; number < end; ++number) {
            const ReachingBox<T>& box = boxes[box_numbers[number]];
            const T squared = sum_of_squares<T, D>([&](int axis) {
                return least_on_axis<true>(box.corners[axis], box.corners[max_dimension + axis], x[axis], x[axis],
                                           points.frame->frame.working_period[axis]);
            });
            if (squared < box.squared || (squared == box.squared && row < box.end_row)) {
                found = device_min(found, squared);
            }
        }
        least[i] = found;
    }
};

/// Positions and velocities as points of phase space.
template <class T, int D, class V>
struct JoinVelocities {
    Coordinates<T> positions;
    Coordinates<V> velocities;
    double scale;
    T* to; ///< row-major

    __device__ void operator()(std::int64_t i) const {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            to[i * 2 * D + axis] = positions(i, axis);
            to[i * 2 * D + D + axis] = scaled_velocity<T>(velocities(i, axis), scale);
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
