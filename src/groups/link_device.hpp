// Friends-of-friends on a GPU, from points or their tree to labels: what runs after what.
//
// Points are labeled as the CPU labels them, bit for bit. Scratch, in bytes: 4 a point for parents, 4 for smallest
// indices, 4 a node of the tree until all is linked; then 3 a point while groups are listed, and 2 a point and 28 a
// group of two members or more while they are sorted. That makes 11 a point where groups of two and more are at most a
// 28th of the points, and 24 where all points are in pairs. The stream is waited for twice: for the number of groups,
// and for that of single points.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/device_value.hpp"
#include "cuda/result_memory.hpp"
#include "groups/group_numbering.hpp"
#include "groups/link_kernel.hpp"
#include "groups/linking_length.hpp"
#include "groups/sizes.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// What is known of the groups besides the labels. Labels number the groups of two and more first, then single points.
struct DeviceGroups {
    DeviceBuffer<std::int32_t> sizes; ///< by label: those of groups of two and more, `groups` of them
    std::int64_t groups = 0;          ///< of two and more
    std::int64_t singles = 0;
};

/// Numbers the groups of `count` points, whose parents there are one more of than points: it is scratch afterwards.
inline DeviceGroups number_groups(DeviceContext& context, const std::int32_t* indices, std::int32_t count,
                                  const DeviceBuffer<std::int32_t>& parents, std::int32_t* labels) {
    DeviceGroups result;
    GroupNumbering numbering(context, {count, indices, parents.data(), labels});
    numbering.list();
    result.groups = context.to_host(numbering.groups());
    result.sizes = context.buffer<std::int32_t>(result.groups);
    numbering.number(static_cast<std::int32_t>(result.groups), result.sizes.data());
    result.singles = context.to_host(numbering.singles());
    return result;
}

/// Calls function.operator()<Periodic>().
template <class Function>
void with_link_kernel(bool periodic, const Function& function) {
    periodic ? function.template operator()<true>() : function.template operator()<false>();
}

struct SeparatePoints {
    DeviceUnionFind groups;

    __device__ void operator()(std::int64_t i) const {
        const auto point = static_cast<std::int32_t>(i);
        groups.set_parent(point, point);
    }
};

/// Makes every point a group of its own.
inline void separate_points(DeviceWork& work, std::int64_t count, const DeviceUnionFind& groups) {
    for_each_index(work, "separating points", count, SeparatePoints{groups});
}

/// Links all friends in a tree. All points get parents.
template <Coordinate T, int D>
void link_tree(DeviceWork& work, const TreeView<T>& tree, bool periodic, const LinkFrame<T>* frame,
               const DeviceUnionFind& groups) {
    if (tree.top < 0) {
        return;
    }
    const DeviceBuffer<std::int32_t> marks = work.buffer<std::int32_t>(mark_count(tree));
    const LinkKernelJob<T> job = link_job(tree, frame, groups, marks.data());
    static_assert(not_one_group == -1, "all bytes of it are 255");
    work.fill(job.marks[tree.top], 255, std::int64_t{tree.planes[tree.top].nodes} * 4);
    const std::int64_t blocks = (std::int64_t{tree.planes[0].nodes} + link_warps - 1) / link_warps;
    with_link_kernel(periodic, [&]<bool Periodic>() {
        for (int plane = tree.top; plane >= 0; --plane) {
            launch_threads(work, "marking whole nodes", mark_whole_nodes_kernel<T, D, Periodic>,
                           tree.planes[plane].nodes, {job, plane});
        }
        launch(work, "linking inside leaves", link_inside_leaves_kernel<T, D, Periodic>, blocks, link_warps * warp_size,
               job);
        launch(work, "linking leaves", link_leaves_kernel<T, D, Periodic>, blocks, link_warps * warp_size, job);
    });
}

/// Groups of points; link(parents, frame) puts the links at that linking length, squared and in working units, on the
/// stream. Labels are the device's, one a point, by original index.
template <Coordinate T, class Link>
DeviceGroups label_groups(DeviceContext& context, const PointSetView<T>& points, const Periods<T>& period,
                          T squared_length, std::int32_t* labels, const Link& link) {
    if (points.count == 0) {
        return {};
    }
    const DeviceBuffer<std::int32_t> parents = context.buffer<std::int32_t>(std::int64_t{points.count} + 1);
    {
        const DeviceBuffer<LinkFrame<T>> frame =
            stored(context, "linking length", LinkFrame<T>{period, squared_length, false});
        link(DeviceUnionFind(parents.data()), frame.data());
    }
    return number_groups(context, points.indices, points.count, parents, labels);
}

/// What a refused length stands beside; given() returns the points as given, on the host, row-major.
template <Coordinate T, class Given>
LargestCoordinate largest_on_host(const Frame<T>& frame, std::int64_t count, const Given& given) {
    const std::vector<T> rows = given();
    return largest_coordinate(frame, Coordinates<T>(PointsView(rows, frame.dimension)), count);
}

/// Resolves the length of a call for groups of positions.
template <Coordinate T, class Given>
void resolve_on_device(const Frame<T>& frame, std::int64_t count, LinkingLength length, FofSummary& result,
                       const Given& given) {
    resolve_length(length, frame, count, result, [&] { return largest_on_host(frame, count, given); });
    describe_frame(frame, result);
}

/// Runs the stage "link" with link(labels on the device), which returns the groups, and brings the answer to where it
/// was asked for.
template <class Link>
void label_on_device(DeviceContext& context, std::span<std::int32_t> labels, FofSummary& result, const Link& link) {
    const ResultMemory memory(context, labels.data(), static_cast<std::int64_t>(labels.size_bytes()));
    context.stage("link", [&] {
        const DeviceGroups groups = link(static_cast<std::int32_t*>(memory.on_device()));
        result.groups = groups.groups + groups.singles;
        const std::vector<std::int32_t> sizes = context.to_host(groups.sizes.data(), groups.groups);
        result.sizes = sizes_of_groups(
            groups.groups, [&](std::int64_t label) { return sizes[label]; }, groups.singles);
    });
    if (memory.must_be_copied()) {
        context.stage("download", [&] {
            memory.copy(context);
            context.wait();
        });
    }
}

} // namespace kith::detail::inline KITH_GPU
