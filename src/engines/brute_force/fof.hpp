// Friends-of-friends by comparing all with all, from points in any order to labels.
#pragma once

#include "groups/fof.hpp"
#include "points/point_set.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace kith::detail {

/// Joins all points within a length of each other; `parents` has one element for each point. Returns the groups.
template <Coordinate T>
UnionFind link_all_pairs(Context& context, const PointSet<T>& points, T squared_length, Buffer<std::int32_t>& parents) {
    constexpr std::int64_t tile = 512;
    const LinkJob<T> job = link_job<T>(points, nullptr, squared_length, parents);
    job.groups.separate(0, static_cast<std::int32_t>(points.count));
    const std::int64_t tiles = (points.count + tile - 1) / tile;
    context.expect(tiles * tiles);
    parallel_each(tiles * tiles, 1, [&](std::int64_t pair) {
        const std::int64_t begin = pair / tiles * tile;
        const std::int64_t other = pair % tiles * tile;
        if (other >= begin) {
            link_tiles(job, begin, std::min(points.count, begin + tile), other, std::min(points.count, other + tile));
        }
        context.done(1);
    });
    return job.groups;
}

template <Coordinate T>
void label_all_pairs(Context& context, const PointSet<T>& points, std::span<std::int32_t> labels, FofSummary& result) {
    Buffer<std::int32_t> parents(context.memory_tracker(), points.count);
    const UnionFind groups =
        link_all_pairs(context, points, points.frame.squared_radius(result.linking_length), parents);
    number_groups(context, groups, points.indices.span(), labels, result);
}

} // namespace kith::detail
