// Which engine answers a call: the only place that decides.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>

#include "support/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kith::detail {

enum class Task {
    neighbors,
    radius,
    groups,
    clusters,
    spanning_tree,
    groups_in_phase_space,
    spanning_tree_in_phase_space,
};

constexpr bool is_in_phase_space(Task task) {
    return task == Task::groups_in_phase_space || task == Task::spanning_tree_in_phase_space;
}

/// What the choice depends on.
struct CallSize {
    std::int64_t points = 0;
    std::int64_t queries = 0; ///< of a self-search and of groups: the points
    bool separate_queries = false;
    std::int64_t k = 0;      ///< neighbors of a query; 0 where their number is not known
    bool keeps_tree = false; ///< the points are those of a tree that was built before
    DeviceKind device = DeviceKind::cpu;
    bool asynchronous = false; ///< only puts work on a stream of the device
};

/// Whether an engine answers such calls on such a device; asynchronous ones, without the host. If `automatic` does not,
/// no engine does.
constexpr bool answers(Engine engine, Task task, DeviceKind device, bool asynchronous = false) {
    if (is_in_phase_space(task) && (device != DeviceKind::cpu || asynchronous)) {
        return false;
    }
    switch (engine) {
    case Engine::automatic:
    case Engine::tree:
        return true;
    case Engine::brute_force:
        return device == DeviceKind::cpu || task == Task::neighbors || task == Task::groups;
    case Engine::kdtree:
        return task == Task::neighbors ? !asynchronous
                                       : device == DeviceKind::cpu && (task == Task::radius || task == Task::groups ||
                                                                       task == Task::groups_in_phase_space);
    case Engine::clover:
        return task == Task::neighbors && !asynchronous;
    }
    return false;
}

/// Throws unsupported for an engine that does not, naming those that do. Calls check this first, before memory, device
/// and points.
inline void check_engine(Engine wanted, Task task, DeviceKind device, bool asynchronous = false) {
    if (answers(wanted, task, device, asynchronous)) {
        return;
    }
    constexpr const char* names[] = {"k nearest neighbors",
                                     "radius search",
                                     "friends-of-friends",
                                     "DBSCAN",
                                     "the spanning tree",
                                     "groups in phase space",
                                     "the spanning tree in phase space"};
    const char* const name = names[static_cast<std::size_t>(task)];
    if (!answers(Engine::automatic, task, device, asynchronous)) {
        throw error(ErrorKind::unsupported, name, task == Task::groups_in_phase_space ? " are" : " is",
                    " found on the CPU only; run on the CPU, with kith::cpu()");
    }
    std::string others;
    for (std::size_t i = 0; i < engine_names.size(); ++i) {
        if (answers(static_cast<Engine>(i), task, device, asynchronous)) {
            others += (others.empty() ? "" : ", ") + std::string(engine_names[i]);
        }
    }
    throw error(ErrorKind::unsupported, "the engine '", name_of(wanted), "' does not support ", name,
                device == DeviceKind::cpu ? "" : " on a GPU", asynchronous ? ", asynchronously" : "",
                "; use one of: ", others,
                device != DeviceKind::cpu && answers(wanted, task, DeviceKind::cpu) ? "; or run on the CPU" : "");
}

/// So few that comparing all with all is always faster on the CPU.
inline constexpr std::int64_t few_points = 32;

/// Whether brute force answers separate queries sooner than a tree is built, on the CPU. Measured, in 2, 3 and 6
/// dimensions (notebook/performance.md): building costs as much as comparing some 128 queries with all points;
/// selecting k of them costs as much as comparing 8 k^2 more.
constexpr bool are_few_pairs(const CallSize& size) {
    constexpr std::int64_t max_queries = 128;
    constexpr double to_start = 256; // building costs as much even for no points
    constexpr double to_select = 8;
    const auto points = static_cast<double>(size.points);
    const auto k = static_cast<double>(size.k < size.points ? size.k : size.points);
    return size.queries <= max_queries &&
           (size.points <= few_points || static_cast<double>(size.queries) * (points + to_select * k * k) <=
                                             static_cast<double>(max_queries) * (points + to_start));
}

/// The engine that the caller wants, or the one that is faster. On the CPU the rules are measured
/// (notebook/performance.md): comparing all with all beats building a tree for a handful of points, and for few
/// queries. So are those on a GPU, an H200 (docs/benchmarks.md): the kernels of a tree take as long as comparing 7e7
/// pairs, however few its points.
inline Engine choose(Task task, Engine wanted, const CallSize& size) {
    constexpr std::int64_t max_pairs_on_gpu = 70'000'000;
    constexpr std::int64_t max_points_to_connect = 512;
    constexpr std::int64_t max_points_to_cluster = 192; // a tree takes dense nodes whole
    check_engine(wanted, task, size.device, size.asynchronous);
    if (size.keeps_tree && size.device != DeviceKind::cpu) {
        return Engine::tree;
    }
    if (wanted != Engine::automatic) {
        return wanted;
    }
    const auto brute_force_pays = [&] {
        if (size.keeps_tree || !answers(Engine::brute_force, task, size.device, size.asynchronous)) {
            return false;
        }
        if (size.device != DeviceKind::cpu) {
            return size.queries * size.points <= max_pairs_on_gpu;
        }
        if (task != Task::neighbors && task != Task::radius) {
            return size.points <= (task == Task::clusters ? max_points_to_cluster : max_points_to_connect);
        }
        return size.separate_queries ? are_few_pairs(size) : size.points <= few_points;
    };
    return brute_force_pays() ? Engine::brute_force : Engine::tree;
}

/// Whether queries of a tree that is kept on the CPU are searched in the calling thread, one after the other
/// (neighbors/point_search.hpp), and not by a receiver walk, which is faster for many and on several threads. The
/// limits are measured (notebook/performance.md): on one thread the walk catches up at some 2,500 queries with k = 8,
/// 1,000 with k = 32 and 100 with k = 64; on several it takes 30 us at least, and a query here 8 + k times 0.06 us. A
/// single query is one task of the walk, too.
constexpr bool are_few(std::int64_t queries, std::int64_t k, int threads) {
    const std::int64_t cost = 8 + k;
    return queries == 1 || queries <= (threads == 1 ? 300'000 / (cost * cost) : 500 / cost);
}

/// The same for radius searches, whose rows have any length: with 3 to 30 neighbors a query here takes 0.4 to 0.9 us,
/// and the walk catches up at some 2,000 queries on one thread. Long rows of several queries are given back to the walk
/// (calls/few_radius_queries.hpp).
constexpr bool are_few_rows(std::int64_t queries, int threads) {
    return queries <= (threads == 1 ? 1024 : 32);
}

} // namespace kith::detail
