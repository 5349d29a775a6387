// Points divided by their nearest hubs on a GPU: a thread for each point of the parts that are divided.
//
// Each hub has two lists: the points around it, and those at its place. A stable sort by list keeps the order of
// coincident points. Source: CLOVER (ICS 2025), section 3.1, kernels 1 to 3; a sort takes the place of counts by
// atomics, so that the same points give the same cells.
#pragma once

#include "engines/clover/hubs.hpp"
#include "geometry/distances_kernel.hpp"
#include "points/gather_kernel.hpp"
#include "points/point_set_view.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Consecutive points that hubs of their own divide.
struct DividedPart {
    std::int32_t first;     ///< point
    std::int32_t rank;      ///< of that point among those of all divided parts
    std::int32_t first_hub; ///< among those of all divided parts
    std::uint64_t seed;
};

template <class T>
struct DivisionJob {
    WorkingCopy<T> points;
    Periods<T> period;
    const DividedPart* parts; ///< and one more, which says where ranks and hubs end
    std::int32_t part_count;
    std::int32_t hub_count;
    std::int32_t point_count;
    T* hubs;              ///< axis after axis
    std::uint32_t* lists; ///< of each point
    std::int32_t* places; ///< of the point of each rank
    WorkingCopy<T> moved; ///< by rank
    std::int32_t* starts; ///< rank of the first point of each list; one more at the end

    /// The part that holds a rank or a hub.
    __device__ std::int32_t part_of(std::int32_t DividedPart::*first, std::int64_t number) const {
        std::int32_t part = 0;
        for (std::int32_t end = part_count; end - part > 1;) {
            const std::int32_t middle = part + (end - part) / 2;
            (parts[middle].*first <= number ? part : end) = middle;
        }
        return part;
    }
    __device__ std::int64_t place_of(std::int64_t rank) const {
        const DividedPart& part = parts[part_of(&DividedPart::rank, rank)];
        return part.first + (rank - part.rank);
    }
};

template <class T, int D>
struct DrawHubs {
    DivisionJob<T> job;

    __device__ void operator()(std::int64_t hub) const {
        const DividedPart* const part = job.parts + job.part_of(&DividedPart::first_hub, hub);
        const std::int64_t point =
            part->first + drawn_hub(part->seed, hub - part->first_hub, part[1].first_hub - part->first_hub,
                                    part[1].rank - part->rank);
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            job.hubs[axis * job.hub_count + hub] = job.points.coordinates[axis * job.points.stride + point];
        }
    }
};

/// The first of equally near hubs takes a point.
template <class T, int D, bool Periodic>
struct AssignPoints {
    DivisionJob<T> job;

    __device__ void operator()(std::int64_t rank) const {
        const DividedPart* const part = job.parts + job.part_of(&DividedPart::rank, rank);
        const std::int64_t point = part->first + (rank - part->rank);
        const DevicePoint<T, D, Periodic> position(job.points.coordinates + point, job.points.stride,
                                                   job.period.data());
        T least = std::numeric_limits<T>::infinity();
        std::int32_t nearest = part->first_hub;
        for (std::int32_t hub = part->first_hub; hub < part[1].first_hub; ++hub) {
            const T squared = position.squared_distance([&](int axis) { return job.hubs[axis * job.hub_count + hub]; });
            nearest = squared < least ? hub : nearest;
            least = device_min(squared, least);
        }
        job.lists[rank] = 2 * static_cast<std::uint32_t>(nearest) + (least == 0 ? 1 : 0);
        job.places[rank] = static_cast<std::int32_t>(point);
    }
};

/// Copies the point of each rank from its place, and then to the place of that rank.
template <class T, int D>
struct TakeByRank {
    DivisionJob<T> job;

    __device__ void operator()(std::int64_t rank) const { copy_point(job.points, job.places[rank], job.moved, rank); }
    __device__ static void copy_point(const WorkingCopy<T>& from, std::int64_t place, const WorkingCopy<T>& to,
                                      std::int64_t to_place) {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            to.coordinates[axis * to.stride + to_place] = from.coordinates[axis * from.stride + place];
        }
        to.indices[to_place] = from.indices[place];
    }
};
template <class T, int D>
struct PutByRank {
    DivisionJob<T> job;

    __device__ void operator()(std::int64_t rank) const {
        TakeByRank<T, D>::copy_point(job.moved, rank, job.points, job.place_of(rank));
    }
};

/// Lists are sorted.
template <class T>
struct FindStarts {
    DivisionJob<T> job;

    __device__ void operator()(std::int64_t list) const {
        std::int32_t first = 0;
        for (std::int32_t end = job.point_count; first < end;) {
            const std::int32_t middle = first + (end - first) / 2;
            if (job.lists[middle] < list) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        job.starts[list] = first;
    }
};

/// The centers of boxes: nearer to all of a cell's points than the hub that drew them.
template <class T, int D>
struct CenterHubs {
    std::int64_t cells;
    const T* lower;
    const T* upper;
    T* hubs;

    __device__ void operator()(std::int64_t cell) const {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            const std::int64_t i = axis * cells + cell;
            hubs[i] = lower[i] + (upper[i] - lower[i]) / 2;
        }
    }
};

/// The hubs of some cells among those that were drawn.
template <class T, int D>
struct TakeHubs {
    std::int64_t cells;
    const std::int32_t* hub_of;
    const T* drawn;
    std::int64_t drawn_count;
    T* hubs;

    __device__ void operator()(std::int64_t cell) const {
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            hubs[axis * cells + cell] = drawn[axis * drawn_count + hub_of[cell]];
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
