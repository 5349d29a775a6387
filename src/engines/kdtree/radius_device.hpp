// The radius search by k-d tree on a GPU, from points on either side.
#pragma once

#include "engines/kdtree/build_device.hpp"
#include "engines/kdtree/device_entry.hpp"
#include "engines/kdtree/radius_kernel.hpp"
#include "engines/search_device.hpp"
#include "neighbors/radius_device.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// Of a k-d tree: a thread for each query (see DeviceRadiusSearch).
template <Coordinate T, int D>
class RadiusWalkOfKdTree {
public:
    /// Null queries: the tree's points.
    RadiusWalkOfKdTree(const DeviceKdTree<T, D>& tree, const Frame<T>& frame, const DevicePointSet<T>* queries)
        : frame_(frame), sources_(tree.nodes.size()), tree_(tree.view(frame)),
          queries_(queries != nullptr
                       ? queries->view()
                       : PointSetView<T>{nullptr, 0, static_cast<std::int32_t>(sources_), tree.indices.data()}) {}

    [[nodiscard]] const Frame<T>& frame() const { return frame_; }
    [[nodiscard]] std::int64_t source_count() const { return sources_; }
    [[nodiscard]] std::int64_t query_count() const { return queries_.count; }
    [[nodiscard]] const std::int32_t* query_indices() const { return queries_.indices; }
    [[nodiscard]] LeafRange all() const { return {0, queries_.count, 0, queries_.count}; }
    [[nodiscard]] std::vector<LeafRange> blocks(DeviceContext& /*context*/, std::int64_t max_queries) const {
        std::vector<LeafRange> blocks;
        for (std::int64_t first = 0; first < queries_.count; first += max_queries) {
            const auto begin = static_cast<std::int32_t>(first);
            const auto end = static_cast<std::int32_t>(std::min<std::int64_t>(first + max_queries, queries_.count));
            blocks.push_back({begin, end, begin, end});
        }
        return blocks;
    }
    [[nodiscard]] static std::int32_t first_of(DeviceContext& /*context*/, std::int32_t query) { return query; }
    [[nodiscard]] RadiusKernelJob<T> job(const LeafRange& range, T squared_radius) const {
        RadiusKernelJob<T> job;
        job.queries = queries_;
        job.first_leaf = range.first_leaf;
        job.end_leaf = range.end_leaf;
        job.squared_radius = squared_radius;
        return job;
    }
    template <RadiusTask Task>
    void launch(DeviceWork& work, const char* name, const RadiusKernelJob<T>& job) const {
        const std::int64_t queries = std::int64_t{job.end_leaf} - job.first_leaf;
        detail::launch(work, name, search_kd_radius_kernel<T, D, Task>,
                       (queries + kd_radius_threads - 1) / kd_radius_threads, kd_radius_threads, {tree_, job});
    }

private:
    const Frame<T>& frame_;
    std::int64_t sources_;
    typename DeviceKdTree<T, D>::View tree_;
    PointSetView<T> queries_;
};

template <Coordinate T, int D>
SearchSummary search_kd_radius_on_device(DeviceContext& context, const PointsView& points, const PointsView* queries,
                                         const DeviceRadiusCall& call) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), call.options.box);
    const Frame<T>& frame = normalized.frame;
    const QueriesOnDevice<T, D> others(context, queries, frame);
    const auto given = [&] { return host_rows<T>(context, points); };
    check_radii(call, frame, (queries != nullptr ? *queries : points).count(), points.count(), queries == nullptr,
                given);
    CountOnHost<T> unresolved(context, frame, (frame.has_tiny || others.have_tiny()) && call.counts == nullptr, given,
                              queries);
    DeviceKdTree<T, D> tree;
    std::optional<DevicePointSet<T>> gathered;
    context.stage("tree", [&] {
        tree = build_kd_tree_on_device<T, D>(context, gather_on_device<T, D>(context, normalized));
        if (others.normalized) {
            gathered.emplace(gather_on_device<T, D>(context, *others.normalized));
        }
    });
    return search_radius<T>(context, RadiusWalkOfKdTree<T, D>(tree, frame, gathered ? &*gathered : nullptr), call,
                            unresolved);
}

} // namespace kith::detail::inline KITH_GPU
