// Chooses the engine of a call: the only place that decides.
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/tree.hpp>

#include "calls/answers.hpp"

#include <cstdint>

namespace kith::detail {

/// What the choice depends on.
struct CallSize {
    std::int64_t points = 0;
    std::int64_t queries = 0; ///< of a self-search and of groups: the points
    bool separate_queries = false;
    std::int64_t k = 0;              ///< neighbors of a query; 0 where their number is not known
    Engine kept = Engine::automatic; ///< of an index of the points that was built before
    Where where = Where::cpu;
};

inline CallSize size_of(const PointsOrTree& points, const PointsView* queries, std::int64_t k, Where where) {
    const std::int64_t count = points.count();
    return {count,
            queries != nullptr ? queries->count() : count,
            queries != nullptr,
            k,
            points.tree() != nullptr ? points.tree()->engine() : Engine::automatic,
            where};
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

/// The engine of a kept index, or that the caller wants, or else the faster one, for a call that check_engine() passes.
/// Over ranks that is the tree. The other rules are measured. On the CPU (notebook/performance.md)
/// comparing all pairs beats building a tree for few points and few queries. On a GPU, an H200 (docs/benchmarks.md),
/// the kernels of a tree take as long as comparing 7e7 pairs, however few its points.
inline Engine choose(Task task, Engine wanted, const CallSize& size) {
    constexpr std::int64_t max_pairs_on_gpu = 70'000'000;
    constexpr std::int64_t max_points_to_connect = 512;
    constexpr std::int64_t max_points_to_cluster = 192; // a tree takes dense nodes whole
    if (is_over_ranks(size.where)) {
        return Engine::tree;
    }
    if (size.kept != Engine::automatic) {
        return size.kept;
    }
    if (wanted != Engine::automatic) {
        return wanted;
    }
    const auto brute_force_pays = [&] {
        if (!answers(Engine::brute_force, task, size.where)) {
            return false;
        }
        if (size.where != Where::cpu) {
            return size.queries * size.points <= max_pairs_on_gpu;
        }
        const bool is_of_queries = task == Task::neighbors || task == Task::neighbor_visits || task == Task::radius ||
                                   task == Task::neighbor_sums || task == Task::radius_sums;
        if (!is_of_queries) {
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
