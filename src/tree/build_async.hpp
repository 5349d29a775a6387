// Points to a working copy of them, and a tree over it, on a GPU without a wait: the device finds the frame.
#pragma once

#include "cuda/device_value.hpp"
#include "cuda/device_wide.hpp"
#include "points/bounds_device.hpp"
#include "points/gather_device.hpp"
#include "tree/device_handle.hpp"
#include "tree/fixed_planes.hpp"
#include "tree/resolve_frame_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kith::detail::inline KITH_GPU {

/// What a call knows of some points before it looks at them, and where it writes what it finds.
template <Coordinate T>
struct AsyncPoints {
    PlainBox box;
    const DeviceFrame<T>* sources = nullptr; ///< null: these are the sources
    DeviceFrame<T>* frame = nullptr;
    DeviceStatus* status = nullptr;
};

/// Keys, made and sorted: `indices` are left in order, and use(sorted keys) is called while there are any.
template <Coordinate T, int D, class Use>
void sort_async(DeviceWork& work, const DeviceView<T>& points, const KeysWithin<T, D>* key_of,
                const DeviceBuffer<std::uint64_t>& keys, const DeviceBuffer<std::int32_t>& indices, const Use& use) {
    const std::int64_t count = keys.size();
    const DeviceBuffer<std::uint64_t> other_keys = work.buffer<std::uint64_t>(count);
    const DeviceBuffer<std::int32_t> other_indices = work.buffer<std::int32_t>(count);
    for_each_index(work, "keys", count, MakeKeysWithin<T, D>{points, key_of, keys.data(), indices.data()});
    SortedArray<std::uint64_t> both_keys{keys.data(), other_keys.data()};
    SortedArray<std::int32_t> both_indices{indices.data(), other_indices.data()};
    sort_by_key(work, both_keys, both_indices, count, DeviceKeyEncoder<T, D>::bits);
    if (both_indices.elements != indices.data()) {
        work.copy(indices.data(), both_indices.elements, count * 4);
    }
    use(both_keys.elements);
}

/// Room for a working copy. Of its frame, the host knows the dimension and whether an axis is periodic.
template <Coordinate T, int D>
DevicePointSet<T> allocate_points(DeviceWork& work, const PlainBox& box, std::int64_t count) {
    Frame<T> frame;
    frame.dimension = D;
    frame.periodic = std::any_of(box.period.begin(), box.period.end(), [](double period) { return period > 0; });
    return {work, frame, count};
}

/// Finds the frame of points and what makes their keys.
template <Coordinate T, int D>
DeviceBuffer<KeysWithin<T, D>> resolve_async(DeviceWork& work, const PointsView& view, const AsyncPoints<T>& known) {
    DeviceBuffer<KeysWithin<T, D>> key_of = work.buffer<KeysWithin<T, D>>(1);
    const DeviceBuffer<PointBounds<T>> found = bounds_of_parts<T, D>(work, view);
    launch(work, "frame of points", resolve_frame_kernel<T, D>, 1, warp_size,
           {DeviceView<T>::of(view, nullptr), found.data(), found.size(), known.box, known.sources, known.frame,
            key_of.data(), known.status});
    return key_of;
}

/// The working copy in the order given.
template <Coordinate T, int D>
DevicePointSet<T> copy_points_async(DeviceWork& work, const PointsView& view, const AsyncPoints<T>& known) {
    DevicePointSet<T> points = allocate_points<T, D>(work, known.box, view.count());
    (void)resolve_async<T, D>(work, view, known);
    copy_points<T, D>(work, DeviceView<T>::of(view, known.frame), points);
    return points;
}

/// A working copy of points along the curve, in the memory of `copy`, and planes of that shape over it, in memory of
/// `kept`. make_keys() gives what makes their keys; look(sorted keys, indices in that order) is called while there are
/// any. Equal keys stay as they are: order decides how long a search takes, never what it finds.
template <Coordinate T, int D, class MakeKeysOf, class Look>
DevicePlaneTree<T> build_fixed_tree(DeviceWork& work, DeviceWork& kept, const DeviceView<T>& points,
                                    DevicePointSet<T> copy, const FixedShape& shape, const MakeKeysOf& make_keys,
                                    const Look& look) {
    DevicePlaneTree<T> tree;
    tree.points = std::move(copy);
    FixedPlanes<T, D> planes(work, kept, points.count, shape);
    {
        const DeviceBuffer<std::uint64_t> keys = work.buffer<std::uint64_t>(points.count);
        const DeviceBuffer<KeysWithin<T, D>> key_of = make_keys();
        sort_async<T, D>(work, points, key_of.data(), keys, tree.points.indices, [&](const std::uint64_t* sorted) {
            look(sorted, tree.points.indices.data());
            planes.cut_leaves(sorted);
        });
    }
    gather_points<T, D>(work, points, tree.points);
    tree.planes = planes.finished(tree.points);
    return tree;
}

/// The same without a wait.
template <Coordinate T, int D>
DevicePlaneTree<T> build_tree_async(DeviceWork& work, DeviceWork& kept, const PointsView& view, const FixedShape& shape,
                                    const AsyncPoints<T>& known) {
    return build_fixed_tree<T, D>(
        work, kept, DeviceView<T>::of(view, known.frame), allocate_points<T, D>(kept, known.box, view.count()), shape,
        [&] { return resolve_async<T, D>(work, view, known); },
        [](const std::uint64_t* /*sorted*/, const std::int32_t* /*indices*/) {});
}

template <Coordinate T, int D>
DevicePlaneTree<T> build_tree_async(DeviceWork& work, const PointsView& view, const FixedShape& shape,
                                    const AsyncPoints<T>& known) {
    return build_tree_async<T, D>(work, work, view, shape, known);
}

/// Writes the frame of a kept tree, which the host knows.
template <Coordinate T>
struct StoreFrame {
    DeviceFrame<T> known;
    DeviceFrame<T>* frame;
    DeviceStatus* status;

    __device__ void operator()() const {
        *frame = known;
        *status = {};
    }
};

/// A tree that is kept, as build_tree_async() returns one.
template <Coordinate T>
const DevicePlaneTree<T>& kept_tree_async(DeviceWork& work, const DeviceTreeHandle& kept, const AsyncPoints<T>& known) {
    const auto& tree = kept.as<DevicePlaneTree<T>>();
    complete(work, "frame of a tree",
             StoreFrame<T>{DeviceFrame<T>(tree.points.frame, false), known.frame, known.status});
    return tree;
}

} // namespace kith::detail::inline KITH_GPU
