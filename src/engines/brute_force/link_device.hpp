// Links by brute force on a GPU.
#pragma once

#include "engines/brute_force/all_links_kernel.hpp"
#include "groups/link_device.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

struct SeparatePointsJob {
    std::int64_t count;
    DeviceUnionFind groups;
};

/// Makes every point a group of its own. The grid has a thread for each point.
template <class Count>
__global__ void separate_points_kernel(const __grid_constant__ SeparatePointsJob job) {
    const Count point = thread_index();
    if (point < job.count) {
        job.groups.set_parent(static_cast<std::int32_t>(point), static_cast<std::int32_t>(point));
    }
}

/// Links all friends by brute force. All points get parents.
template <Coordinate T, int D>
void link_all_pairs(DeviceWork& work, const DevicePointSet<T>& points, const LinkFrame<T>* frame,
                    const DeviceUnionFind& groups) {
    launch_threads(work, "separating points", separate_points_kernel<std::int64_t>, points.count,
                   {points.count, groups});
    with_link_kernel(points.frame.periodic, [&]<bool Periodic>() {
        launch(work, "linking all pairs", link_all_pairs_kernel<T, D, Periodic>,
               (points.count + all_links_tile - 1) / all_links_tile, all_links_tile, {points.view(), frame, groups});
    });
}

} // namespace kith::detail::inline KITH_GPU
