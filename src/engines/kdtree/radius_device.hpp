// The radius search by k-d tree on a GPU, from the tree and queries on either side.
#pragma once

#include "engines/kdtree/device_entry.hpp"
#include "engines/kdtree/radius_kernel.hpp"
#include "engines/kdtree/search_device.hpp"
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
    RadiusWalkOfKdTree(const KeptKdTree<T, D>& tree, const DevicePointSet<T>* queries)
        : tree_(tree), queries_(queries != nullptr ? queries->view() : tree.nodes()) {}

    [[nodiscard]] const Frame<T>& frame() const { return tree_.frame; }
    [[nodiscard]] std::int64_t source_count() const { return tree_.count(); }
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
                       (queries + kd_radius_threads - 1) / kd_radius_threads, kd_radius_threads, {tree_.view(), job});
    }

private:
    const KeptKdTree<T, D>& tree_;
    PointSetView<T> queries_;
};

template <Coordinate T, int D>
SearchSummary search_kd_radius_on_device(DeviceContext& context, const DeviceTreeHandle& handle,
                                         const PointsView* queries, const DeviceRadiusCall& call) {
    const auto& tree = handle.as<KeptKdTree<T, D>>();
    const QueriesOnDevice<T, D> others(context, queries, tree.frame);
    const auto given = [&] { return tree.given_rows(context); };
    check_radii(call, tree.frame, queries != nullptr ? queries->count() : tree.count(), tree.count(),
                queries == nullptr, given);
    CountOnHost<T> unresolved(context, tree.frame,
                              (tree.frame.has_tiny || others.have_tiny()) && call.counts == nullptr, given, queries);
    std::optional<DevicePointSet<T>> gathered;
    if (others.normalized) {
        context.stage("queries", [&] { gathered.emplace(gather_on_device<T, D>(context, *others.normalized)); });
    }
    return search_radius<T>(context, RadiusWalkOfKdTree<T, D>(tree, gathered ? &*gathered : nullptr), call, unresolved);
}

} // namespace kith::detail::inline KITH_GPU
