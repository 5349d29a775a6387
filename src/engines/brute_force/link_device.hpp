// Links by brute force on a GPU.
#pragma once

#include "engines/brute_force/all_links_kernel.hpp"
#include "groups/link_device.hpp"

namespace kith::detail::inline KITH_GPU {

/// Links all friends by brute force. All points get parents.
template <Coordinate T, int D>
void link_all_pairs(DeviceWork& work, const DevicePointSet<T>& points, const LinkFrame<T>* frame,
                    const DeviceUnionFind& groups) {
    separate_points(work, points.count, groups);
    with_link_kernel(points.frame.periodic, [&]<bool Periodic>() {
        launch(work, "linking all pairs", link_all_pairs_kernel<T, D, Periodic>,
               (points.count + all_links_tile - 1) / all_links_tile, all_links_tile, {points.view(), frame, groups});
    });
}

/// Groups of points at a length that has been resolved; labels as label_groups() has them.
template <Coordinate T, int D>
DeviceGroups label_all_pairs(DeviceContext& context, const DevicePointSet<T>& points, double linking_length,
                             std::int32_t* labels) {
    return label_groups(context, points.view(), points.frame.working_period,
                        points.frame.squared_radius(linking_length), labels,
                        [&](const DeviceUnionFind& groups, const LinkFrame<T>* frame) {
                            link_all_pairs<T, D>(context, points, frame, groups);
                        });
}

} // namespace kith::detail::inline KITH_GPU
