// One pass over a caller's points on a device: what it finds of each part of them (bounds_kernel.hpp).
#pragma once

#include "cuda/launch.hpp"
#include "points/bounds_kernel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// No parts for no points. Bounds of further axes than D are not set.
template <Coordinate T, int D>
DeviceBuffer<PointBounds<T>> bounds_of_parts(DeviceWork& work, const PointsView& view) {
    constexpr int threads = bounds_warps * warp_size;
    const std::int64_t blocks =
        std::min<std::int64_t>((view.count() + threads - 1) / threads, std::int64_t{work.multiprocessors()} * 8);
    DeviceBuffer<PointBounds<T>> found = work.buffer<PointBounds<T>>(blocks);
    launch(work, "bounds of points", bounds_kernel<T, D>, blocks, threads,
           {DeviceView<T>::of(view, nullptr), found.data()});
    return found;
}

} // namespace kith::detail::inline KITH_GPU
