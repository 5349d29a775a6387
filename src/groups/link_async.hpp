// Friends-of-friends on a GPU that only puts work on the stream: no count is read, no memory taken but the caller's.
//
// As the labels that are waited for (link_device.hpp), in a tree that is there already, or with one whose counts the
// number of points decides; the device resolves the linking length, and memory suffices for as many groups as there can
// be. Where something is refused, nothing is linked; the points are then numbered as groups of their own, which does no
// harm.
#pragma once

#include "cuda/device_value.hpp"
#include "groups/device_entry.hpp"
#include "groups/group_numbering.hpp"
#include "groups/link_device.hpp"
#include "groups/resolve_length.hpp"
#include "points/as_given.hpp"
#include "tree/build_async.hpp"
#include "tree/tree_in_memory.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// As largest_coordinate() of points as given, of a working copy in any order, whose coordinates are scaled back. Those
/// outside a periodic axis were wrapped, so that none of them may be as large.
template <Coordinate T>
__device__ LargestCoordinate largest_coordinate(const Frame<T>& frame, const PointSetView<T>& points,
                                                std::int64_t count) noexcept {
    const PowerOfTwo<T> scale(-frame.exponent);
    LargestCoordinate first{-1, -1, static_cast<double>(frame.largest)};
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int32_t index = points.indices[i];
        if (index < 0 || (first.point >= 0 && index > first.point)) {
            continue;
        }
        for (int axis = frame.dimension - 1; axis >= 0; --axis) {
            const T x = scale(points.axis(axis)[i]);
            if (magnitude_of(x) == frame.largest) {
                first = {index, axis, static_cast<double>(x)};
            }
        }
    }
    return first;
}

/// Resolves the linking length, and says what became of it. `Given` are Coordinates, or a PointSetView of a kept tree.
template <Coordinate T, class Given>
struct CompleteLinkFrame {
    double length;
    bool is_relative;
    Given given; ///< the points
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
    const auto& normalized =
        normalize(AsyncPoints<T>{PlainBox(fof.options.box, D), nullptr, device_frame.data(), fof.status});
    const DevicePointSet<T>& points = points_of(normalized);
    const DeviceBuffer<std::int32_t> parents = work.buffer<std::int32_t>(points.count + 1);
    {
        const DeviceBuffer<LinkFrame<T>> frame = work.buffer<LinkFrame<T>>(1);
        const auto resolve_beside = [&]<class Given>(const Given& given) {
            complete(work, "linking length",
                     CompleteLinkFrame<T, Given>{fof.length.value(), fof.length.is_relative(), given, points.count,
                                                 device_frame.data(), frame.data(), fof.summary, fof.status});
        };
        if (fof.kept != nullptr || fof.in_memory != nullptr) {
            resolve_beside(points.view());
        } else {
            resolve_beside(Coordinates<T>(fof.points.points()));
        }
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
    const auto label_in = [&](const auto& tree_of) {
        label_normalized_async<T, D>(
            work, fof, tree_of,
            [&](const DevicePlaneTree<T>& tree, const LinkFrame<T>* frame, const DeviceUnionFind& groups) {
                link_tree<T, D>(work, tree.view(), tree.points.frame.periodic, frame, groups);
            });
    };
    if (fof.kept != nullptr) {
        label_in([&](const AsyncPoints<T>& known) -> const DevicePlaneTree<T>& {
            return kept_tree_async(work, *fof.kept, known);
        });
    } else if (fof.in_memory != nullptr) {
        TreeInMemory<T, D> tree(fof.options.execution, *fof.in_memory);
        label_in([&](const AsyncPoints<T>& known) -> const DevicePlaneTree<T>& { return tree.load(work, known); });
    } else {
        label_in([&](const AsyncPoints<T>& known) {
            return build_tree_async<T, D>(work, fof.points.points(), usual_shape, known);
        });
    }
}

} // namespace kith::detail::inline KITH_GPU
