// Friends-of-friends on a GPU that only puts work on the stream: no count is read, no memory taken but the caller's.
//
// As the labels that are waited for (link_device.hpp), with a tree whose counts the number of points decides, a linking
// length that the device resolves, and room for as many groups as there can be. Where something is refused, jobs are
// completed so that nothing is linked; the points are then numbered as groups of their own, which does no harm.
#pragma once

#include "cuda/stored_job.hpp"
#include "groups/device_entry.hpp"
#include "groups/group_numbering.hpp"
#include "groups/link_kernel.hpp"
#include "groups/resolve_length.hpp"
#include "points/as_given.hpp"
#include "tree/build_async.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// The linking length as it was given, and where it says what became of it.
template <Coordinate T>
struct LengthToResolve {
    double value;
    bool is_relative;
    Coordinates<T> given; ///< the points
    std::int64_t points;
    const ResolvedFrame<T>* resolved_frame;
    DeviceFofSummary* summary;
    DeviceStatus* status;

    /// Squared, in working units. False if something is refused.
    __device__ bool squared(T& length) const {
        ResolvedLength resolved;
        DeviceStatus found;
        if (!resolved_frame->is_refused) {
            found = resolve_length(value, is_relative, resolved_frame->frame, points, resolved);
        }
        if (found.refusal == PointError::length_unresolved) { // may be slow: one thread looks for the point
            found = unresolved_beside(largest_coordinate(resolved_frame->frame, given, points), found.value);
        }
        *summary = {0, resolved.length, resolved.volume, resolved.volume_kind};
        if (found.refusal != PointError::none) {
            *status = found;
        }
        length = squared_length(resolved_frame->frame, resolved.length);
        return !resolved_frame->is_refused && found.refusal == PointError::none;
    }
};

template <Coordinate T>
struct CompleteLinks {
    LinkKernelJob<T> job; ///< all but what the frame tells
    LengthToResolve<T> length;
    LinkKernelJob<T>* completed;

    __device__ void operator()() const {
        *completed = job;
        completed->tree.period = length.resolved_frame->frame.working_period;
        if (!length.squared(completed->squared_length)) {
            for (int plane = 0; plane <= job.tree.top; ++plane) {
                completed->tree.planes[plane].nodes = 0;
            }
        }
    }
};

struct CompleteGroupCount {
    const std::int32_t* groups; ///< of two members and more
    const std::int32_t* singles;
    DeviceFofSummary* summary;

    __device__ void operator()() const { summary->groups = std::int64_t{*groups} + *singles; }
};

template <class Count>
struct SeparatePointsJob {
    Count count;
    DeviceUnionFind groups;
};

/// Makes every point a group of its own. The grid has a thread for each point.
template <class Count>
__global__ void separate_points_kernel(const __grid_constant__ SeparatePointsJob<Count> job) {
    const Count point = Count{blockIdx.x} * blockDim.x + threadIdx.x;
    if (point < job.count) {
        job.groups.set_parent(static_cast<std::int32_t>(point), static_cast<std::int32_t>(point));
    }
}

/// Labels points whose frame is known to the device alone; link(groups, length) puts the links on the stream.
template <Coordinate T, class Link>
void label_async(DeviceWork& work, const DeviceFofAsync& fof, const ResolvedFrame<T>* resolved_frame,
                 const DevicePointSet<T>& points, const Link& link) {
    const DeviceBuffer<std::int32_t> parents = work.buffer<std::int32_t>(points.count + 1);
    const DeviceUnionFind groups(parents.data());
    // Every point has a parent, whatever is refused.
    launch_threads(work, "separating points", separate_points_kernel<std::int64_t>, points.count,
                   {points.count, groups});
    link(groups, LengthToResolve<T>{fof.length.value(), fof.length.is_relative(), Coordinates<T>(fof.points),
                                    fof.points.count(), resolved_frame, fof.summary, fof.status});
    if (points.count == 0) {
        return;
    }
    GroupNumbering numbering(
        work, {static_cast<std::int32_t>(points.count), points.indices.data(), parents.data(), fof.labels});
    numbering.list();
    numbering.number(static_cast<std::int32_t>(points.count / 2), nullptr);
    complete(work, "number of groups", CompleteGroupCount{numbering.groups(), numbering.singles(), fof.summary});
}

/// Calls function.operator()<Periodic>().
template <class Function>
void with_link_kernel(bool periodic, const Function& function) {
    if (periodic) {
        function.template operator()<true>();
    } else {
        function.template operator()<false>();
    }
}

template <Coordinate T, int D>
void link_tree_async(DeviceWork& work, const DevicePlaneTree<T>& tree, bool periodic, const DeviceUnionFind& groups,
                     const LengthToResolve<T>& length) {
    const TreeView<T> view = tree.view();
    const DeviceBuffer<std::int32_t> marks = work.buffer<std::int32_t>(mark_count(view));
    const LinkKernelJob<T> job = link_job(view, T{0}, groups, marks.data());
    const DeviceBuffer<LinkKernelJob<T>> completed = work.buffer<LinkKernelJob<T>>(1);
    complete(work, "linking length", CompleteLinks<T>{job, length, completed.data()});
    if (tree.planes.empty()) {
        return;
    }
    static_assert(not_one_group == -1, "all bytes of it are 255");
    work.fill(job.marks[job.tree.top], 255, tree.planes.back().nodes * 4);
    const std::int64_t blocks = (tree.planes.front().nodes + link_warps - 1) / link_warps;
    with_link_kernel(periodic, [&]<bool Periodic>() {
        for (int plane = job.tree.top; plane >= 0; --plane) {
            launch_threads(work, "marking whole nodes", mark_stored_whole_nodes_kernel<T, D, Periodic>,
                           job.tree.planes[plane].nodes, {completed.data(), plane});
        }
        launch_stored<LinkInsideLeaves<T, D, Periodic>>(work, "linking inside leaves", blocks, completed.data());
        launch_stored<LinkLeaves<T, D, Periodic>>(work, "linking leaves", blocks, completed.data());
    });
}

template <Coordinate T, int D>
void label_async_on_device(DeviceWork& work, const DeviceFofAsync& fof) {
    const DeviceBuffer<ResolvedFrame<T>> resolved_frame = work.buffer<ResolvedFrame<T>>(1);
    const AsyncPoints<T> place{PlainBox(fof.options.box, D), nullptr, resolved_frame.data(), fof.status};
    const DevicePlaneTree<T> tree = build_tree_async<T, D>(work, fof.points, usual_shape, place);
    label_async(work, fof, resolved_frame.data(), tree.points,
                [&](const DeviceUnionFind& groups, const LengthToResolve<T>& length) {
                    link_tree_async<T, D>(work, tree, is_periodic(fof.options.box, D), groups, length);
                });
}

} // namespace kith::detail::inline KITH_GPU
