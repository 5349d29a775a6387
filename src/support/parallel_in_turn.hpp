// A loop whose elements differ much in work and come by descending work.
#pragma once

#include "support/parallel.hpp"

#include <atomic>
#include <cstdint>

namespace kith::detail {

/// body(i) for every i of [0, count): threads take the elements in ascending order, one at a time. Pieces of neighbors,
/// as parallel_each() makes them, would have most of the work in the first.
template <class Body>
void parallel_in_turn(std::int64_t count, const Body& body) {
    std::atomic<std::int64_t> next{0};
    parallel_each(loop_threads(), 1, [&](std::int64_t) {
        for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
            try {
                body(i);
            } catch (...) {
                next = count; // for the other threads, too
                throw;
            }
        }
    });
}

} // namespace kith::detail
