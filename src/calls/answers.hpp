// The engines that support each task, by where the call runs: one table for all public calls.
//
// Every call checks its row before anything else (check_engine); choose.hpp chooses among the engines that support it.
// Tests loop over the table. scripts/renew-pages.py reads it, too, a row a line, for the table of docs/api/cpp.md.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>

#include "support/message.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::detail {

/// An index is a kith::Tree.
enum class Task : std::uint8_t {
    neighbors,
    neighbors_in_z_order,
    neighbor_visits,
    neighbors_of_other_labels,
    neighbor_sums,
    radius,
    radius_sums,
    groups,
    groups_in_phase_space,
    clusters,
    spanning_tree,
    spanning_tree_in_phase_space,
    density_clusters,
    pair_counts,
    index,
};

/// Names of the tasks, in the order of Task.
inline constexpr std::array<std::string_view, 15> task_names{
    "k nearest neighbors",
    "k nearest neighbors in z-order",
    "visitors of k nearest neighbors",
    "k nearest neighbors of other labels",
    "sums over k nearest neighbors",
    "radius search",
    "sums within a radius",
    "friends-of-friends",
    "groups in phase space",
    "DBSCAN",
    "the spanning tree",
    "the spanning tree in phase space",
    "HDBSCAN*",
    "pair counts",
    "a kept index",
};

/// Where a call runs: a stream is that of an asynchronous call on a GPU; over ranks, this rank works on its CPU or on a
/// GPU.
enum class Where : std::uint8_t { cpu, gpu, stream, ranks, gpu_ranks };

inline bool is_over_ranks(Where where) noexcept {
    return where == Where::ranks || where == Where::gpu_ranks;
}

inline Where where_of(const Execution& execution) noexcept {
    const bool is_on_cpu = execution.device.kind == DeviceKind::cpu;
    if (execution.team != nullptr) {
        return is_on_cpu ? Where::ranks : Where::gpu_ranks;
    }
    return is_on_cpu ? Where::cpu : Where::gpu;
}

struct EngineRow {
    Task task;
    Engine engine;
    std::array<bool, 5> supported; ///< by Where
};

inline constexpr EngineRow engine_table[] = {
    {Task::neighbors, Engine::tree, {true, true, true, true, true}},
    {Task::neighbors, Engine::brute_force, {true, true, true, false, false}},
    {Task::neighbors, Engine::kdtree, {true, true, false, false, false}},
    {Task::neighbors, Engine::clover, {true, true, false, false, false}},
    {Task::neighbors_in_z_order, Engine::tree, {true, true, true, false, false}},
    {Task::neighbor_visits, Engine::tree, {true, true, false, true, false}},
    {Task::neighbor_visits, Engine::brute_force, {true, true, false, false, false}}, // on a GPU, the tree's blocks
    {Task::neighbor_visits, Engine::kdtree, {true, false, false, false, false}},
    {Task::neighbor_visits, Engine::clover, {true, false, false, false, false}},
    {Task::neighbors_of_other_labels, Engine::tree, {true, false, false, false, false}},
    {Task::neighbor_sums, Engine::tree, {true, true, false, true, false}},
    {Task::neighbor_sums, Engine::brute_force, {true, false, false, false, false}},
    {Task::neighbor_sums, Engine::kdtree, {true, false, false, false, false}},
    {Task::neighbor_sums, Engine::clover, {true, false, false, false, false}},
    {Task::radius, Engine::tree, {true, true, false, true, true}},
    {Task::radius, Engine::brute_force, {true, false, false, false, false}},
    {Task::radius, Engine::kdtree, {true, true, false, false, false}},
    {Task::radius_sums, Engine::tree, {true, true, false, true, false}},
    {Task::radius_sums, Engine::brute_force, {true, false, false, false, false}},
    {Task::radius_sums, Engine::kdtree, {true, false, false, false, false}},
    {Task::groups, Engine::tree, {true, true, true, true, true}},
    {Task::groups, Engine::brute_force, {true, true, true, false, false}},
    {Task::groups, Engine::kdtree, {true, true, false, false, false}},
    {Task::groups_in_phase_space, Engine::tree, {true, true, false, true, true}},
    {Task::groups_in_phase_space, Engine::brute_force, {true, true, false, false, false}},
    {Task::groups_in_phase_space, Engine::kdtree, {true, true, false, false, false}},
    {Task::clusters, Engine::tree, {true, true, false, true, true}},
    {Task::clusters, Engine::brute_force, {true, false, false, false, false}},
    {Task::spanning_tree, Engine::tree, {true, true, false, true, false}},
    {Task::spanning_tree, Engine::brute_force, {true, false, false, false, false}},
    {Task::spanning_tree_in_phase_space, Engine::tree, {true, true, false, true, false}},
    {Task::spanning_tree_in_phase_space, Engine::brute_force, {true, false, false, false, false}},
    {Task::density_clusters, Engine::tree, {true, true, false, true, false}},
    {Task::density_clusters, Engine::brute_force, {true, false, false, false, false}},
    {Task::pair_counts, Engine::tree, {true, true, false, true, false}},
    {Task::index, Engine::tree, {true, true, false, false, false}},
    {Task::index, Engine::brute_force, {true, false, false, false, false}},
    {Task::index, Engine::kdtree, {true, true, false, false, false}},
    {Task::index, Engine::clover, {true, true, false, false, false}},
};

/// Whether the engine supports such calls there. Engine::automatic does where the tree does.
constexpr bool answers(Engine engine, Task task, Where where) {
    const Engine wanted = engine == Engine::automatic ? Engine::tree : engine;
    return std::any_of(std::begin(engine_table), std::end(engine_table), [&](const EngineRow& row) {
        return row.task == task && row.engine == wanted && row.supported[static_cast<std::size_t>(where)];
    });
}

/// Throws unsupported for an engine without such a row, naming those that have one.
inline void check_engine(Engine wanted, Task task, Where where) {
    if (answers(wanted, task, where)) {
        return;
    }
    const std::string_view name = task_names[static_cast<std::size_t>(task)];
    if (!answers(Engine::automatic, task, where)) {
        const bool are_many = task == Task::groups_in_phase_space || task <= Task::neighbor_sums ||
                              task == Task::radius_sums || task == Task::pair_counts;
        constexpr std::array<const char*, 5> remedies{
            "", " found on the CPU only; leave the GPU out, or run on the CPU",
            " not found asynchronously; use the call that waits", " not found over ranks; run the call on one process",
            " not found over ranks on GPUs; leave the GPU out"};
        const bool runs_over_ranks = answers(Engine::automatic, task, Where::ranks);
        const Where refused = where == Where::gpu_ranks && !runs_over_ranks ? Where::ranks : where;
        throw error(ErrorKind::unsupported, name, are_many ? " are" : " is",
                    remedies[static_cast<std::size_t>(refused)]);
    }
    std::string others;
    for (std::size_t i = 0; i < engine_names.size(); ++i) {
        if (answers(static_cast<Engine>(i), task, where)) {
            others += (others.empty() ? "" : ", ") + std::string(engine_names[i]);
        }
    }
    constexpr std::array<const char*, 5> places{"", " on a GPU", " on a GPU, asynchronously", " over ranks",
                                                " over ranks on GPUs"};
    const bool runs_on_cpu = where != Where::cpu && !is_over_ranks(where) && answers(wanted, task, Where::cpu);
    throw error(ErrorKind::unsupported, "the engine '", name_of(wanted), "' does not support ", name,
                places[static_cast<std::size_t>(where)], "; use one of: ", others,
                runs_on_cpu ? "; or run on the CPU" : "");
}

} // namespace kith::detail
