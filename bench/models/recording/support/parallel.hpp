// support/parallel.hpp of the scaling model: the same functions, run by one thread, every piece of every loop timed.
//
// The model compiles the library's sources with this folder first among the include paths. Ranges are halved down to
// the grain, as oneTBB halves them, and the pieces run in order; loops within pieces are recorded as such. The library
// itself has no hooks.
#pragma once

#include "support/denormals.hpp"
#include "support/fork_join.hpp"
#include "support/per_thread.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <source_location>
#include <utility>
#include <vector>

namespace kith::detail {

inline int loop_threads() {
    return tbb::this_task_arena::max_concurrency(); // of those that the call asked for
}

/// What began or ended when. Loops hold pieces, pieces may hold loops.
struct RecordedEvent {
    enum class Kind : std::uint8_t { loop, piece, end };
    Kind kind;
    std::chrono::steady_clock::time_point time;
    const char* file = "";
    std::uint_least32_t line = 0;
};

/// All events so far, in order.
inline std::vector<RecordedEvent>& recorded_events() {
    static std::vector<RecordedEvent> events;
    return events;
}

/// Records a loop or a piece while it lives.
class Recorded {
public:
    explicit Recorded(RecordedEvent::Kind kind, const char* file = "", std::uint_least32_t line = 0) {
        recorded_events().push_back({kind, std::chrono::steady_clock::now(), file, line});
    }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;
    ~Recorded() { recorded_events().push_back({RecordedEvent::Kind::end, std::chrono::steady_clock::now()}); }
};

/// piece(begin, end) over the pieces of [begin, end), as support/parallel.hpp makes them at the finest.
template <class Piece>
void each_piece(std::int64_t begin, std::int64_t end, std::int64_t grain, const Piece& piece) {
    if (begin >= end) {
        return;
    }
    if (end - begin > (grain < 1 ? 1 : grain)) {
        const std::int64_t middle = begin + (end - begin) / 2;
        each_piece(begin, middle, grain, piece);
        each_piece(middle, end, grain, piece);
        return;
    }
    const Recorded recorded(RecordedEvent::Kind::piece);
    const DenormalGuard guard;
    piece(begin, end);
}

template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const Body& body,
                  const std::source_location& caller = std::source_location::current()) {
    const Recorded loop(RecordedEvent::Kind::loop, caller.file_name(), caller.line());
    each_piece(begin, end, grain, body);
}

template <class Body>
void parallel_each(std::int64_t count, std::int64_t grain, const Body& body,
                   const std::source_location& caller = std::source_location::current()) {
    const auto each = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            body(i);
        }
    };
    parallel_for(0, count, grain, each, caller);
}

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}

template <class Body>
void parallel_blocks(std::int64_t count, std::int64_t size, const Body& body,
                     const std::source_location& caller = std::source_location::current()) {
    const auto each = [&](std::int64_t block) { body(block, block * size, std::min(count, (block + 1) * size)); };
    parallel_each(blocks_of(count, size), 1, each, caller);
}

template <class Value, class Body, class Join>
Value parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t grain, const Value& identity, const Body& body,
                      const Join& join, const std::source_location& caller = std::source_location::current()) {
    const Recorded loop(RecordedEvent::Kind::loop, caller.file_name(), caller.line());
    Value joined = identity;
    each_piece(begin, end, grain, [&](std::int64_t first, std::int64_t last) {
        joined = join(joined, body(first, last, Value(identity)));
    });
    return joined;
}

template <class Value>
std::int64_t parallel_sum(std::int64_t count, std::int64_t grain, const Value& value,
                          const std::source_location& caller = std::source_location::current()) {
    const auto add = [&](std::int64_t begin, std::int64_t end, std::int64_t sum) {
        for (std::int64_t i = begin; i < end; ++i) {
            sum += value(i);
        }
        return sum;
    };
    return parallel_reduce(0, count, grain, std::int64_t{0}, add, std::plus<>(), caller);
}

template <class Predicate>
std::int64_t parallel_find(std::int64_t count, std::int64_t grain, const Predicate& is_wanted,
                           const std::source_location& caller = std::source_location::current()) {
    const auto find = [&](std::int64_t begin, std::int64_t end, std::int64_t first) {
        for (std::int64_t i = begin; first == count && i < end; ++i) {
            first = is_wanted(i) ? i : first;
        }
        return first;
    };
    const auto least = [](std::int64_t left, std::int64_t right) { return std::min(left, right); };
    return parallel_reduce(0, count, grain, count, find, least, caller);
}

inline constexpr auto join_values = []<class Value>(Value left, const Value& right) {
    left.join(right);
    return left;
};

template <class Body>
void isolated(const Body& body) {
    body();
}

} // namespace kith::detail
