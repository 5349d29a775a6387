// DBSCAN by comparing all with all, from points in any order to labels. The kernels are those of the receiver walks'
// leaves, given every source at once (groups/core_policy-inl.hpp, groups/border_policy-inl.hpp).
#pragma once

#include "engines/brute_force/fof.hpp"
#include "engines/candidates.hpp"
#include "groups/dbscan.hpp"
#include "points/point_set.hpp"

#include <cstdint>

namespace kith::detail {

template <Coordinate T>
void cluster_all_pairs(Context& context, const PointSet<T>& points, const ClusterRequest<T>& request,
                       DbscanSummary& result) {
    const Frame<T>& frame = points.frame;
    const TreeView<T> all = without_planes(points);
    constexpr std::int64_t block_size = 32; // receivers that share a gathered block
    using Scratch = DensityScratch<T>;
    const DensityJob<T> job{{&all, &all, frame.dimension, frame.periodic}, request.squared_length};
    Buffer<std::uint8_t> is_core;
    context.stage("core", [&] {
        is_core = core_flags(context, points, request, result, [&](std::uint8_t* flags) {
            const CoreJob<T> core_job{job, request.min_samples, flags};
            context.expect(points.count);
            for_blocks<Scratch>(context, points.count, block_size,
                                [&](std::int64_t begin, std::int64_t end, Scratch& scratch) {
                                    compare_core_points(core_job, begin, end, scratch);
                                });
        });
    });
    PointSet<T> core_points;
    Buffer<std::int32_t> parents;
    context.stage("link", [&] {
        core_points = make_point_set(context, frame, result.core_points);
        copy_points(points, 0, points.count, is_core, core_points, 0);
        parents = Buffer<std::int32_t>(context.memory_tracker(), core_points.count);
        const UnionFind components = link_all_pairs(context, core_points, request.squared_length, parents);
        number_clusters(context, components, core_points.indices.span(), request.labels, result);
    });
    if (!request.star && core_points.count > 0 && core_points.count < points.count) {
        context.stage("border", [&] {
            const TreeView<T> core_view = without_planes(core_points);
            BorderJob<T> border_job{
                job, is_core.data(), {}, parents.data(), {}, request.labels.data(), result.sizes.data()};
            border_job.sources = &core_view;
            context.expect(points.count);
            for_blocks<Scratch>(context, points.count, block_size,
                                [&](std::int64_t begin, std::int64_t end, Scratch& scratch) {
                                    compare_border_points(border_job, begin, end, scratch);
                                });
        });
    }
    context.run([&] { count_noise(points.count, result); });
}

} // namespace kith::detail
