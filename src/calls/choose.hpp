// Which engine answers a call: the only place that decides.
#pragma once

#include <kith/execution.hpp>

#include <cstdint>

namespace kith::detail {

enum class Task { neighbors, groups, spanning_tree };

/// What the choice depends on.
struct CallSize {
    std::int64_t points = 0;
    std::int64_t queries = 0; ///< of a self-search and of groups: the points
    bool separate_queries = false;
    int dimension = 3;
    bool keeps_tree = false; ///< the points are those of a tree that was built before
    DeviceKind device = DeviceKind::cpu;
};

/// The engine that the caller wants, or the one that is faster. On the CPU the rules are measured
/// (notebook/performance.md): comparing all with all beats building a tree for a handful of points, and for few queries,
/// the more of them the higher the dimension. On a GPU they follow from the instructions that both are expected to take,
/// not from a measurement: a warp compares a query with 32 points in about 20, while a tree is some thirty kernels, however
/// small.
constexpr Engine choose(Task task, Engine wanted, const CallSize& size) {
    constexpr std::int64_t max_pairs_on_gpu = std::int64_t{1} << 27;
    constexpr std::int64_t max_points_to_connect = 512;
    constexpr std::int64_t max_points = 32;
    constexpr std::int64_t max_queries_per_dimension = 32;
    if (size.keeps_tree && size.device != DeviceKind::cpu) {
        return Engine::tree;
    }
    if (wanted != Engine::automatic) {
        return wanted;
    }
    const auto brute_force_pays = [&] {
        if (size.keeps_tree) {
            return false;
        }
        if (size.device != DeviceKind::cpu) {
            return size.queries * size.points <= max_pairs_on_gpu;
        }
        if (task != Task::neighbors) {
            return size.points <= max_points_to_connect;
        }
        return size.separate_queries ? size.queries <= max_queries_per_dimension * size.dimension
                                     : size.points <= max_points;
    };
    return brute_force_pays() ? Engine::brute_force : Engine::tree;
}

/// Whether queries of a tree that is kept on the CPU are searched in the calling thread, one after the other
/// (neighbors/point_search.hpp), and not by a receiver walk, which is faster for many and on several threads. The
/// limits are measured (notebook/performance.md): on one thread the walk catches up at some 2,500 queries with k = 8,
/// 1,000 with k = 32 and 100 with k = 64; on several it takes 30 us at least, and a query here 8 + k times 0.06 us.
constexpr bool are_few(std::int64_t queries, std::int64_t k, int threads) {
    const std::int64_t cost = 8 + k;
    return queries <= (threads == 1 ? 300'000 / (cost * cost) : 500 / cost);
}

} // namespace kith::detail
