// Neighbors within a radius by comparing all with all. The kernel is that of the receiver walk's leaves, given every
// source at once (neighbors/radius_policy-inl.hpp).
#pragma once

#include "engines/candidates.hpp"
#include "neighbors/radius.hpp"
#include "support/context.hpp"

#include <cstdint>

namespace kith::detail {

/// The answers of all receivers, in any order.
template <Coordinate T>
void compare_all(Context& context, const RadiusJob<T>& job) {
    constexpr std::int64_t block_size = 16; // receivers that share a gathered block
    context.expect(job.receivers->points.count);
    const IndexRange all{0, job.sources->points.count};
    for_blocks<RadiusScratch<T>>(context, job.receivers->points.count, block_size,
                                 [&](std::int64_t begin, std::int64_t end, RadiusScratch<T>& scratch) {
                                     compare_radius(job, begin, end, {&all, 1}, scratch);
                                 });
}

} // namespace kith::detail
