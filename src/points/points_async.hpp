// Points to a working copy of them on a GPU without a wait: the frame is found by the device, and what needs it finds its
// job in memory.
#pragma once

#include "cuda/device_wide.hpp"
#include "cuda/stored_job.hpp"
#include "points/bounds_device.hpp"
#include "points/device_point_set.hpp"
#include "points/settle_kernel.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// In which order a working copy is made.
enum class CopyOrder { as_given, along_the_curve };

/// Where a call's points come from and what is found out about them.
template <Coordinate T>
struct AsyncPlace {
    PlainBox box;
    const SettledPoints<T>* sources = nullptr; ///< null: these are the sources
    SettledPoints<T>* settled = nullptr;
    DeviceStatus* status = nullptr;
};

/// Keys, made and sorted: leaves the indices in order in `indices`.
template <Coordinate T, int D>
void sort_async(DeviceWork& work, const KeyKernelJob<T, D>* job, const DeviceBuffer<std::uint64_t>& keys,
                const DeviceBuffer<std::int32_t>& indices) {
    const std::int64_t count = keys.size();
    const DeviceBuffer<std::uint64_t> other_keys = work.buffer<std::uint64_t>(count);
    const DeviceBuffer<std::int32_t> other_indices = work.buffer<std::int32_t>(count);
    launch_stored_threads<MakeKeys<T, D>>(work, "keys", count, job);
    SortedArray<std::uint64_t> both_keys{keys.data(), other_keys.data()};
    SortedArray<std::int32_t> both_indices{indices.data(), other_indices.data()};
    sort_by_key(work, both_keys, both_indices, count, DeviceKeyMaker<T, D>::bits);
    if (both_indices.elements != indices.data()) {
        work.copy(indices.data(), both_indices.elements, count * 4);
    }
}

/// The working copy. Equal keys stay as they are: order decides how long a search takes, never what it finds. The set's
/// own frame has the dimension and nothing else; the one that was found is the device's.
template <Coordinate T, int D>
DevicePointSet<T> copy_points_async(DeviceWork& work, const PointsView& view, CopyOrder order,
                                    const AsyncPlace<T>& place) {
    const std::int64_t count = view.count();
    Frame<T> blank;
    blank.dimension = D;
    DevicePointSet<T> points(work, blank, count);
    const DeviceBuffer<GatherPointsJob<T>> gather = work.buffer<GatherPointsJob<T>>(1);
    const bool sorts = order == CopyOrder::along_the_curve;
    const DeviceBuffer<KeyKernelJob<T, D>> key_job = work.buffer<KeyKernelJob<T, D>>(sorts ? 1 : 0);
    const DeviceBuffer<std::uint64_t> keys = work.buffer<std::uint64_t>(sorts ? count : 0);
    {
        const DeviceBuffer<PointBounds<T>> found = bounds_of_parts<T, D>(work, view);
        launch(work, "frame of points", settle_kernel<T, D>, 1, warp_size,
               {DeviceView<T>::raw_points(view),
                found.data(),
                found.size(),
                place.box,
                place.sources,
                place.settled,
                place.status,
                keys.data(),
                {{}, points.indices.data(), points.coordinates.data(), points.stride},
                key_job.data(),
                gather.data()});
    }
    if (sorts) {
        sort_async<T, D>(work, key_job.data(), keys, points.indices);
        launch_stored_threads<GatherPoints<T, D>>(work, "gathering points", count, gather.data());
    } else {
        launch_stored_threads<CopyPoints<T, D>>(work, "copying points", count, gather.data());
    }
    return points;
}

} // namespace kith::detail::inline KITH_GPU
