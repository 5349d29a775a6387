// Friends-of-friends on a GPU that only puts work on the stream: no count is read, no memory taken but the caller's.
//
// As the labels that are waited for (link_device.hpp), with a tree whose counts the number of points decides, a linking
// length that the device resolves, and room for as many groups as there can be. Where something is refused, nothing is
// linked; the points are then numbered as groups of their own, which does no harm.
#pragma once

#include "cuda/device_value.hpp"
#include "groups/device_entry.hpp"
#include "groups/group_numbering.hpp"
#include "groups/link_device.hpp"
#include "groups/resolve_length.hpp"
#include "points/as_given.hpp"
#include "tree/build_async.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Resolves the linking length, and says what became of it.
template <Coordinate T>
struct CompleteLinkFrame {
    double length;
    bool is_relative;
    Coordinates<T> given; ///< the points
    std::int64_t count;
    const DeviceFrame<T>* points;
    LinkFrame<T>* frame;
    DeviceFofSummary* summary;
    DeviceStatus* status;

    __device__ void operator()() const {
        ResolvedLength resolved;
        DeviceStatus found;
        if (!points->is_refused) {
            found = resolve_length(length, is_relative, points->frame, count, resolved);
        }
        if (found.refusal == PointError::length_unresolved) { // may be slow: one thread looks for the point
            found = unresolved_beside(largest_coordinate(points->frame, given, count), found.value);
        }
        *summary = {0, resolved.length, resolved.volume, resolved.volume_kind};
        if (found.refusal != PointError::none) {
            *status = found;
        }
        *frame = {points->frame.working_period, points->frame.squared_radius(resolved.length),
                  points->is_refused || found.refusal != PointError::none};
    }
};

struct CompleteGroupCount {
    const std::int32_t* groups; ///< of two members and more
    const std::int32_t* singles;
    DeviceFofSummary* summary;

    __device__ void operator()() const { summary->groups = std::int64_t{*groups} + *singles; }
};

/// Labels the points that normalize(known) returns, whose frame only the device knows; link(normalized, frame, parents)
/// puts the links on the stream.
template <Coordinate T, int D, class Normalize, class Link>
void label_normalized_async(DeviceWork& work, const DeviceFofAsync& fof, const Normalize& normalize, const Link& link) {
    const DeviceBuffer<DeviceFrame<T>> device_frame = work.buffer<DeviceFrame<T>>(1);
    const auto normalized =
        normalize(AsyncPoints<T>{PlainBox(fof.options.box, D), nullptr, device_frame.data(), fof.status});
    const DevicePointSet<T>& points = points_of(normalized);
    const DeviceBuffer<std::int32_t> parents = work.buffer<std::int32_t>(points.count + 1);
    {
        const DeviceBuffer<LinkFrame<T>> frame = work.buffer<LinkFrame<T>>(1);
        complete(work, "linking length",
                 CompleteLinkFrame<T>{fof.length.value(), fof.length.is_relative(), Coordinates<T>(fof.points),
                                      points.count, device_frame.data(), frame.data(), fof.summary, fof.status});
        link(normalized, frame.data(), DeviceUnionFind(parents.data()));
    }
    if (points.count == 0) {
        return;
    }
    GroupNumbering numbering(
        work, {static_cast<std::int32_t>(points.count), points.indices.data(), parents.data(), fof.labels});
    numbering.list();
    numbering.number(static_cast<std::int32_t>(points.count / 2), nullptr);
    complete(work, "number of groups", CompleteGroupCount{numbering.groups(), numbering.singles(), fof.summary});
}

template <Coordinate T, int D>
void label_async_on_device(DeviceWork& work, const DeviceFofAsync& fof) {
    label_normalized_async<T, D>(
        work, fof,
        [&](const AsyncPoints<T>& known) { return build_tree_async<T, D>(work, fof.points, usual_shape, known); },
        [&](const DevicePlaneTree<T>& tree, const LinkFrame<T>* frame, const DeviceUnionFind& groups) {
            link_tree<T, D>(work, tree.view(), tree.points.frame.periodic, frame, groups);
        });
}

} // namespace kith::detail::inline KITH_GPU
