// The stages' only interface to oneTBB: loops and reductions. Bodies run inside the arena of the
// enclosing Context::stage, with subnormals on.
#pragma once

#include "support/per_thread.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// How many threads may share a loop here.
inline int loop_threads() {
    return tbb::this_task_arena::max_concurrency();
}

/// Of a reduction: enough for threads that are slower, or come later, to have fewer.
inline constexpr std::int64_t pieces_per_thread = 8;

/// A loop's body without its type: where it is, and what calls it.
struct LoopBody {
    const void* body;
    void (*call)(const void* body, std::int64_t begin, std::int64_t end);
};

/// The same for all loops: of each type of body, oneTBB would make seven functions, two thirds of all where trees are
/// built.
void run_in_pieces(std::int64_t begin, std::int64_t end, std::int64_t grain, const LoopBody& body);

/// body(begin, end) over pieces of [begin, end) of about `grain` elements.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const Body& body) {
    const auto call = [](const void* of_loop, std::int64_t first, std::int64_t last) {
        (*static_cast<const Body*>(of_loop))(first, last);
    };
    run_in_pieces(begin, end, grain, {&body, call});
}

/// body(i) for every i of [0, count), in pieces of about `grain` of them.
template <class Body>
void parallel_each(std::int64_t count, std::int64_t grain, const Body& body) {
    parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            body(i);
        }
    });
}

/// How many blocks of a size make up [0, count).
constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}

/// body(block, begin, end) for every block of [0, count), each of which is work for one thread.
template <class Body>
void parallel_blocks(std::int64_t count, std::int64_t size, const Body& body) {
    parallel_each(blocks_of(count, size), 1,
                  [&](std::int64_t block) { body(block, block * size, std::min(count, (block + 1) * size)); });
}

/// Combines body(begin, end, value) over pieces with join(left, right). `join` must be associative and must not care
/// where the pieces end. A thread has several pieces, of `grain` elements or more: oneTBB's own reduction would be
/// compiled anew, 7 kB of it, for each type of value and body.
template <class Value, class Body, class Join>
Value parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t grain, const Value& identity, const Body& body,
                      const Join& join) {
    const std::int64_t size = end - begin;
    const std::int64_t pieces = std::clamp<std::int64_t>(size / std::max<std::int64_t>(grain, 1), 1,
                                                         pieces_per_thread * std::int64_t{loop_threads()});
    std::vector<Value> values(pieces, identity);
    parallel_each(pieces, 1, [&](std::int64_t piece) {
        values[piece] = body(begin + size * piece / pieces, begin + size * (piece + 1) / pieces, identity);
    });
    for (std::int64_t piece = 1; piece < pieces; ++piece) {
        values[0] = join(std::move(values[0]), values[piece]);
    }
    return std::move(values[0]);
}

/// The sum of value(i) over every i of [0, count).
template <class Value>
std::int64_t parallel_sum(std::int64_t count, std::int64_t grain, const Value& value) {
    return parallel_reduce(
        0, count, grain, std::int64_t{0},
        [&](std::int64_t begin, std::int64_t end, std::int64_t sum) {
            for (std::int64_t i = begin; i < end; ++i) {
                sum += value(i);
            }
            return sum;
        },
        [](std::int64_t left, std::int64_t right) { return left + right; });
}

/// The first i of [0, count) for which is_wanted(i), or else count.
template <class Predicate>
std::int64_t parallel_find(std::int64_t count, std::int64_t grain, const Predicate& is_wanted) {
    return parallel_reduce(
        0, count, grain, count,
        [&](std::int64_t begin, std::int64_t end, std::int64_t first) {
            for (std::int64_t i = begin; first == count && i < end; ++i) {
                first = is_wanted(i) ? i : first;
            }
            return first;
        },
        [](std::int64_t left, std::int64_t right) { return std::min(left, right); });
}

/// For parallel_reduce, of values that have join().
inline constexpr auto join_values = []<class Value>(Value left, const Value& right) {
    left.join(right);
    return left;
};

/// Calls the caller's own code from within a task. If it runs parallel loops and waits for them, this thread takes up
/// no other task meanwhile, so that what belongs to the thread (PerThread) stays as it is.
template <class Body>
void isolated(const Body& body) {
    tbb::this_task_arena::isolate(body);
}

} // namespace kith::detail
