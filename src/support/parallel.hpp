// The stages' only interface to oneTBB: loops and reductions. Bodies run inside the arena of the
// enclosing Context::stage, with subnormals on.
#pragma once

#include "support/denormals.hpp"
#include "support/fork_join.hpp"
#include "support/per_thread.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kith::detail {

/// How many threads may share a loop here.
inline int loop_threads() {
    return tbb::this_task_arena::max_concurrency();
}

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
/// where the pieces end.
template <class Value, class Body, class Join>
Value parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t grain, const Value& identity, const Body& body,
                      const Join& join) {
    ForkJoin fork_join;
    const ForkSpan fork(fork_join);
    return tbb::parallel_reduce(
        tbb::blocked_range<std::int64_t>(begin, end, grain < 1 ? 1 : static_cast<std::size_t>(grain)), identity,
        [&](const tbb::blocked_range<std::int64_t>& range, Value value) {
            const TaskSpan task(fork_join);
            const DenormalGuard guard;
            return body(range.begin(), range.end(), std::move(value));
        },
        [&](const Value& left, const Value& right) {
            fork_join.after_tasks(); // the parts come from tasks that have ended
            Value joined = join(left, right);
            fork_join.task_ends();
            return joined;
        });
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
