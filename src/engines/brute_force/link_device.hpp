// Friends-of-friends by brute force on a GPU, waited for or not.
#pragma once

#include "engines/brute_force/all_links_kernel.hpp"
#include "engines/brute_force/search_device.hpp"
#include "groups/link_async.hpp"
#include "groups/link_device.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Links all friends by brute force. All points get parents.
template <class T, int D, bool Periodic>
void link_all_pairs(DeviceContext& context, const AllLinksJob<T>& job) {
    launch_threads(context, "separating points", separate_points_kernel<std::int64_t>, job.points.count,
                   {job.points.count, job.groups});
    launch(context, "linking all pairs", link_all_pairs_kernel<T, D, Periodic>,
           (std::int64_t{job.points.count} + all_links_tile - 1) / all_links_tile, all_links_tile, job);
}

/// Groups of points in any order, at a linking length, squared and in working units. Labels are the device's.
template <class T, int D>
DeviceGroups label_groups_all_pairs(DeviceContext& context, const PointSetView<T>& points, const Periods<T>& period,
                                    bool periodic, T squared_length, std::int32_t* labels) {
    if (points.count == 0) {
        return {};
    }
    const DeviceBuffer<std::int32_t> parents = context.buffer<std::int32_t>(std::int64_t{points.count} + 1);
    const AllLinksJob<T> job{points, period, squared_length, DeviceUnionFind(parents.data())};
    if (periodic) {
        link_all_pairs<T, D, true>(context, job);
    } else {
        link_all_pairs<T, D, false>(context, job);
    }
    return number_groups(context, points.indices, points.count, parents, labels);
}

template <Coordinate T>
struct CompleteAllLinks {
    AllLinksJob<T> job; ///< all but what the frame tells
    LengthToResolve<T> length;
    AllLinksJob<T>* completed;

    __device__ void operator()() const {
        *completed = job;
        completed->period = length.resolved_frame->frame.working_period;
        if (!length.squared(completed->squared_length)) {
            completed->points.count = 0;
        }
    }
};

template <Coordinate T, int D>
void link_all_pairs_async(DeviceWork& work, const AllLinksJob<T>& job, bool periodic,
                          const LengthToResolve<T>& length) {
    const DeviceBuffer<AllLinksJob<T>> completed = work.buffer<AllLinksJob<T>>(1);
    complete(work, "linking length", CompleteAllLinks<T>{job, length, completed.data()});
    const std::int64_t blocks = (std::int64_t{job.points.count} + all_links_tile - 1) / all_links_tile;
    with_link_kernel(periodic, [&]<bool Periodic>() {
        launch_stored<LinkAllPairs<T, D, Periodic>>(work, "linking all pairs", blocks, completed.data());
    });
}

} // namespace kith::detail::inline KITH_GPU
