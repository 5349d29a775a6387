// Friends-of-friends on a GPU that only puts work on the stream: no count is read, no memory taken but the caller's.
//
// As the labels that are waited for (link_device.hpp), with a tree whose counts the number of points decides, a linking
// length that the device resolves, and room for as many groups as there can be. Where something is refused, jobs are
// completed so that nothing is linked; the points are then numbered as groups of their own, which does no harm.
#pragma once

#include "cuda/device_index.hpp"
#include "cuda/stored_job.hpp"
#include "engines/brute_force/all_links_kernel.hpp"
#include "fof/group_numbering.hpp"
#include "fof/link_kernel.hpp"
#include "fof/settle_length.hpp"
#include "tree/build_async.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// The linking length as it was given, and where it says what became of it.
template <Coordinate T>
struct LengthToSettle {
    double value;
    bool is_relative;
    std::int64_t points;
    const SettledPoints<T>* settled;
    DeviceFofSummary* summary;
    DeviceStatus* status;

    /// Squared, in working units. False if something is refused.
    __device__ bool squared(T& length) const {
        ResolvedLength resolved;
        DeviceStatus found;
        if (!settled->is_refused) {
            found = settle_length(value, is_relative, settled->frame, points, resolved);
        }
        *summary = {0, resolved.length, resolved.volume, resolved.volume_kind};
        if (found.refusal != Refusal::none) {
            *status = found;
        }
        length = squared_length(settled->frame, resolved.length);
        return !settled->is_refused && found.refusal == Refusal::none;
    }
};

template <Coordinate T>
struct CompleteLinks {
    LinkKernelJob<T> job; ///< all but what the frame tells
    LengthToSettle<T> length;
    LinkKernelJob<T>* completed;

    __device__ void operator()() const {
        *completed = job;
        completed->tree.period = length.settled->frame.working_period;
        if (!length.squared(completed->squared_length)) {
            for (int plane = 0; plane <= job.tree.top; ++plane) {
                completed->tree.planes[plane].nodes = 0;
            }
        }
    }
};

template <Coordinate T>
struct CompleteAllLinks {
    AllLinksJob<T> job; ///< all but what the frame tells
    LengthToSettle<T> length;
    AllLinksJob<T>* completed;

    __device__ void operator()() const {
        *completed = job;
        completed->period = length.settled->frame.working_period;
        if (!length.squared(completed->squared_length)) {
            completed->points.count = 0;
        }
    }
};

struct CompleteGroupCount {
    const std::int32_t* groups; ///< of two members and more
    const std::int32_t* singles;
    DeviceFofSummary* summary;

    __device__ void operator()() const { summary->groups = std::int64_t{*groups} + *singles; }
};

template <Coordinate T, int D>
class AsyncLinks {
public:
    AsyncLinks(DeviceWork& work, const DeviceFofAsync& fof)
        : work_(work), fof_(fof), settled_(work.buffer<SettledPoints<T>>(1)) {}

    void run() {
        const AsyncPlace<T> place{PlainBox(fof_.box, D), nullptr, settled_.data(), fof_.status};
        if (fof_.all_pairs) {
            const DevicePointSet<T> points = copy_points_async<T, D>(work_, fof_.points, place);
            label(points, [&](const AllLinksJob<T>& job) { link_all(job); });
        } else {
            const DevicePlaneTree<T> tree = build_tree_async<T, D>(work_, fof_.points, usual_shape, place);
            label(tree.points, [&](const AllLinksJob<T>& job) { link_tree(tree, job.groups); });
        }
    }

private:
    /// Labels points that link(job) gives parents; the job is complete but for what the frame tells.
    template <class Link>
    void label(const DevicePointSet<T>& points, const Link& link) {
        const DeviceBuffer<std::int32_t> parents = work_.buffer<std::int32_t>(points.count + 1);
        const AllLinksJob<T> job{points.view(), {}, 0, DeviceUnionFind(parents.data())};
        // Every point has a parent, whatever is refused.
        launch_threads(work_, "separating points", separate_points_kernel<T>, points.count, job);
        link(job);
        if (points.count == 0) {
            return;
        }
        GroupNumbering numbering(
            work_, {static_cast<std::int32_t>(points.count), points.indices.data(), parents.data(), fof_.labels});
        numbering.list();
        numbering.number(static_cast<std::int32_t>(points.count / 2), nullptr);
        complete(work_, "number of groups", CompleteGroupCount{numbering.groups(), numbering.singles(), fof_.summary});
    }

    [[nodiscard]] LengthToSettle<T> length() const {
        return {fof_.length.value(), fof_.length.is_relative(), fof_.points.count(), settled_.data(), fof_.summary,
                fof_.status};
    }

    /// Calls function.operator()<Periodic>().
    template <class Function>
    void with_kernel(const Function& function) const {
        if (is_periodic(fof_.box, D)) {
            function.template operator()<true>();
        } else {
            function.template operator()<false>();
        }
    }

    void link_all(const AllLinksJob<T>& job) {
        const DeviceBuffer<AllLinksJob<T>> completed = work_.buffer<AllLinksJob<T>>(1);
        complete(work_, "linking length", CompleteAllLinks<T>{job, length(), completed.data()});
        const std::int64_t blocks = (std::int64_t{job.points.count} + all_links_tile - 1) / all_links_tile;
        with_kernel([&]<bool Periodic>() {
            launch_stored<LinkAllPairs<T, D, Periodic>>(work_, "linking all pairs", blocks, completed.data());
        });
    }

    void link_tree(const DevicePlaneTree<T>& tree, const DeviceUnionFind& groups) {
        const DeviceTree<T> view = tree.view();
        const DeviceBuffer<std::int32_t> marks = work_.buffer<std::int32_t>(mark_count(view));
        const LinkKernelJob<T> job = link_job(view, T{0}, groups, marks.data());
        const DeviceBuffer<LinkKernelJob<T>> completed = work_.buffer<LinkKernelJob<T>>(1);
        complete(work_, "linking length", CompleteLinks<T>{job, length(), completed.data()});
        if (tree.planes.empty()) {
            return;
        }
        static_assert(not_one_group == -1, "all bytes of it are 255");
        work_.fill(job.marks[job.tree.top], 255, tree.planes.back().nodes * 4);
        const std::int64_t blocks = (tree.planes.front().nodes + link_warps - 1) / link_warps;
        with_kernel([&]<bool Periodic>() {
            for (int plane = job.tree.top; plane >= 0; --plane) {
                launch_threads(work_, "marking whole nodes", mark_stored_whole_nodes_kernel<T, D, Periodic>,
                               job.tree.planes[plane].nodes, {completed.data(), plane});
            }
            launch_stored<LinkInsideLeaves<T, D, Periodic>>(work_, "linking inside leaves", blocks, completed.data());
            launch_stored<LinkLeaves<T, D, Periodic>>(work_, "linking leaves", blocks, completed.data());
        });
    }

    DeviceWork& work_;
    const DeviceFofAsync& fof_;
    DeviceBuffer<SettledPoints<T>> settled_;
};

template <Coordinate T, int D>
void label_async_on_device(DeviceWork& work, const DeviceFofAsync& fof) {
    AsyncLinks<T, D>(work, fof).run();
}

} // namespace kith::detail::inline KITH_GPU
