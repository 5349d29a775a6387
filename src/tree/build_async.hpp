// Points to a working copy of them, and a tree over it, on a GPU without a wait: the frame is found by the device, and
// what needs it finds its job in memory.
#pragma once

#include "cuda/device_wide.hpp"
#include "cuda/stored_job.hpp"
#include "points/bounds_device.hpp"
#include "points/device_point_set.hpp"
#include "tree/fixed_planes.hpp"
#include "tree/resolve_frame_kernel.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Whether any axis of a box is.
inline bool is_periodic(const Box& box, int dimension) {
    for (int axis = 0; axis < dimension; ++axis) {
        if (box.period(axis) > 0) {
            return true;
        }
    }
    return false;
}

/// Where a call's points come from and what is found out about them.
template <Coordinate T>
struct AsyncPoints {
    PlainBox box;
    const ResolvedFrame<T>* sources = nullptr; ///< null: these are the sources
    ResolvedFrame<T>* resolved_frame = nullptr;
    DeviceStatus* status = nullptr;
};

/// Keys, made and sorted: `indices` are left in order, and use(sorted keys) is called while there are any.
template <Coordinate T, int D, class Use>
void sort_async(DeviceWork& work, const KeyKernelJob<T, D>* job, const DeviceBuffer<std::uint64_t>& keys,
                const DeviceBuffer<std::int32_t>& indices, const Use& use) {
    const std::int64_t count = keys.size();
    const DeviceBuffer<std::uint64_t> other_keys = work.buffer<std::uint64_t>(count);
    const DeviceBuffer<std::int32_t> other_indices = work.buffer<std::int32_t>(count);
    launch_stored_threads<MakeKeys<T, D>>(work, "keys", count, job);
    SortedArray<std::uint64_t> both_keys{keys.data(), other_keys.data()};
    SortedArray<std::int32_t> both_indices{indices.data(), other_indices.data()};
    sort_by_key(work, both_keys, both_indices, count, DeviceKeyEncoder<T, D>::bits);
    if (both_indices.elements != indices.data()) {
        work.copy(indices.data(), both_indices.elements, count * 4);
    }
    use(both_keys.elements);
}

/// Room for a working copy. Its frame has the dimension and nothing else; the one that is found is the device's.
template <Coordinate T, int D>
DevicePointSet<T> allocate_points(DeviceWork& work, std::int64_t count) {
    Frame<T> blank;
    blank.dimension = D;
    return {work, blank, count};
}

/// Finds the frame of points, and completes the jobs that need it; `keys` may be null.
template <Coordinate T, int D>
void resolve_async(DeviceWork& work, const PointsView& view, const AsyncPoints<T>& place,
                   const DevicePointSet<T>& points, GatherPointsJob<T>* gather, KeyKernelJob<T, D>* keys,
                   std::uint64_t* key_memory) {
    const DeviceBuffer<PointBounds<T>> found = bounds_of_parts<T, D>(work, view);
    launch(work, "frame of points", resolve_frame_kernel<T, D>, 1, warp_size,
           {DeviceView<T>::raw_points(view),
            found.data(),
            found.size(),
            place.box,
            place.sources,
            place.resolved_frame,
            place.status,
            key_memory,
            {{}, points.indices.data(), points.coordinates.data(), points.stride},
            keys,
            gather});
}

/// The working copy in the order given.
template <Coordinate T, int D>
DevicePointSet<T> copy_points_async(DeviceWork& work, const PointsView& view, const AsyncPoints<T>& place) {
    DevicePointSet<T> points = allocate_points<T, D>(work, view.count());
    const DeviceBuffer<GatherPointsJob<T>> gather = work.buffer<GatherPointsJob<T>>(1);
    resolve_async<T, D>(work, view, place, points, gather.data(), nullptr, nullptr);
    launch_stored_threads<CopyPoints<T, D>>(work, "copying points", view.count(), gather.data());
    return points;
}

/// The working copy along the curve, and planes of that shape over it. Equal keys stay as they are: order decides how
/// long a search takes, never what it finds.
template <Coordinate T, int D>
DevicePlaneTree<T> build_tree_async(DeviceWork& work, const PointsView& view, const FixedShape& shape,
                                    const AsyncPoints<T>& place) {
    const std::int64_t count = view.count();
    DevicePlaneTree<T> tree;
    tree.points = allocate_points<T, D>(work, count);
    FixedPlanes<T, D> planes(work, count, shape);
    const DeviceBuffer<GatherPointsJob<T>> gather = work.buffer<GatherPointsJob<T>>(1);
    {
        const DeviceBuffer<KeyKernelJob<T, D>> key_job = work.buffer<KeyKernelJob<T, D>>(1);
        const DeviceBuffer<std::uint64_t> keys = work.buffer<std::uint64_t>(count);
        resolve_async<T, D>(work, view, place, tree.points, gather.data(), key_job.data(), keys.data());
        sort_async<T, D>(work, key_job.data(), keys, tree.points.indices,
                         [&](const std::uint64_t* sorted) { planes.cut_leaves(sorted); });
    }
    launch_stored_threads<GatherPoints<T, D>>(work, "gathering points", count, gather.data());
    tree.planes = planes.finished(tree.points);
    return tree;
}

} // namespace kith::detail::inline KITH_GPU
