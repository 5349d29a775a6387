// Neighbors within a radius by comparing all with all. The kernel is that of the receiver walk's leaves, given every
// source at once (neighbors/radius_policy-inl.hpp).
#pragma once

#include "neighbors/radius.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

/// The answers of all receivers, in any order.
template <Coordinate T>
void compare_all(Context& context, const RadiusJob<T>& job) {
    constexpr std::int64_t grain = 16; // receivers that share a gathered block
    const std::int64_t count = job.receivers->points.count;
    const IndexRange all{0, job.sources->points.count};
    PerThread<RadiusScratch<T>> scratch;
    parallel_for(0, (count + grain - 1) / grain, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t block = first; block < last; ++block) {
            const std::int64_t end = std::min(count, (block + 1) * grain);
            compare_radius(job, block * grain, end, {&all, 1}, scratch.local());
            context.done(end - block * grain);
        }
    });
}

} // namespace kith::detail
