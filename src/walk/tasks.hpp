// Which nodes of a tree are the tasks of a walk, and running them.
#pragma once

#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/view.hpp"
#include "walk/schedule.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// The coarsest plane that has sixteen nodes for each thread, so that uneven tasks even out; else the leaves.
template <Coordinate T>
[[nodiscard]] int plane_of_tasks(const TreeView<T>& tree, int threads) {
    constexpr std::int64_t tasks_per_thread = 16;
    int plane = tree.top;
    while (plane > 0 && tree.planes[plane].nodes < tasks_per_thread * threads) {
        --plane;
    }
    return plane;
}

/// Runs task(node) for every node of the plane of the tasks; each counts its points as done.
template <Coordinate T, class Task>
void for_each_task(Context& context, const PlaneView<T>& tasks, const Task& task) {
    parallel_each(tasks.nodes, 1, [&](std::int64_t node) {
        task(node);
        context.done(tasks.points_in(node));
    });
}

/// Runs a receiver walk: search(job, node, scratch) for every node of the plane of the tasks.
template <class Scratch, class Job>
void walk_tasks(Context& context, Job job, void (*search)(const Job&, std::int64_t, Scratch&)) {
    const int plane = plane_of_tasks(*job.receivers, context.threads());
    const std::vector<Step> schedule = make_schedule(*job.receivers, plane, *job.sources);
    job.schedule = &schedule;
    context.expect(job.receivers->points.count);
    PerThread<Scratch> scratch;
    for_each_task(context, job.receivers->planes[plane],
                  [&](std::int64_t node) { search(job, node, scratch.local()); });
}

} // namespace kith::detail
