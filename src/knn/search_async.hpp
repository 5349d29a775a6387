// A neighbour search on a GPU that only puts work on the stream: no count is read, no memory taken but the caller's.
//
// As the search that waits (search_device.hpp), with a tree whose shape the number of points decides (even_planes.hpp) and
// a frame that the device finds; both change how long it takes, not what it finds. Where something is refused, jobs are
// completed so that no row is searched.
#pragma once

#include "cuda/device_index.hpp"
#include "cuda/stored_job.hpp"
#include "engines/brute_force/all_pairs_kernel.hpp"
#include "knn/search_device.hpp"
#include "points/points_async.hpp"
#include "tree/even_planes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

inline WantedNeighbors wanted_by(const DeviceKnnCall& call) {
    return {call.k, call.options.exclude_self, call.options.squared, call.options.max_distance};
}

/// Memory of the device for rows.
template <Coordinate T>
DeviceRowMemory<T> row_memory(const NeighborRows& rows) {
    const bool wide = rows.index_type() == IndexType::int64;
    return {static_cast<T*>(rows.distances()), wide ? nullptr : static_cast<std::int32_t*>(rows.indices()),
            wide ? static_cast<std::int64_t*>(rows.indices()) : nullptr};
}

/// Completes the jobs of a search in trees.
template <Coordinate T, int D>
struct CompleteTreeSearch {
    LeafKernelJob<T> job; ///< all but what the frame tells
    const SettledPoints<T>* settled;
    double max_distance;
    bool squared;
    LeafKernelJob<T>* by_leaf; ///< null: queries are searched for one by one
    SearchKernelJob<T>* by_query;

    __device__ void operator()() const {
        const Frame<T>& frame = settled->frame;
        const DeviceRequest<T> request =
            request_in<T>(frame, {job.request.k, job.request.exclude_self, squared, max_distance}, job.request.rows);
        if (by_leaf != nullptr) {
            *by_leaf = job;
            by_leaf->queries.period = frame.working_period;
            by_leaf->sources.period = frame.working_period;
            by_leaf->request = request;
            by_leaf->end_leaf = settled->is_refused ? job.first_leaf : job.end_leaf;
            by_leaf->first_reach = even_reach<T, D>(frame, job.sources.points.count, request.k + 1);
        }
        const DeviceRows only = by_leaf != nullptr ? job.left : DeviceRows{};
        *by_query = {
            job.queries.points, job.sources, request, 0, settled->is_refused ? 0 : job.queries.points.count, only};
        by_query->sources.period = frame.working_period;
    }
};

template <Coordinate T>
struct CompleteAllPairs {
    AllPairsJob<T> job; ///< all but what the frame tells
    const SettledPoints<T>* settled;
    WantedNeighbors wanted;
    AllPairsJob<T>* completed;

    __device__ void operator()() const {
        *completed = job;
        completed->period = settled->frame.working_period;
        completed->request = request_in<T>(settled->frame, wanted, job.request.rows);
        completed->queries.count = settled->is_refused ? 0 : job.queries.count;
        completed->sources.count = settled->is_refused ? 0 : job.sources.count;
    }
};

template <Coordinate T, int D>
class AsyncSearch {
public:
    AsyncSearch(DeviceWork& work, const DeviceKnnAsync& search)
        : work_(work), search_(search), settled_(work.buffer<SettledPoints<T>>(2)) {}

    void run() {
        const CopyOrder order = search_.all_pairs ? CopyOrder::as_given : CopyOrder::along_the_curve;
        SettledPoints<T>* const settled = settled_.data();
        const PlainBox box(search_.box, D);
        const DevicePointSet<T> sources =
            copy_points_async<T, D>(work_, search_.points, order, {box, nullptr, settled, search_.status});
        if (!search_.queries) {
            run_among(sources, sources, settled);
            return;
        }
        const DevicePointSet<T> queries =
            copy_points_async<T, D>(work_, *search_.queries, order, {box, settled, settled + 1, search_.status});
        run_among(queries, sources, settled + 1);
    }

private:
    [[nodiscard]] std::int64_t k() const { return search_.call.k; }

    void run_among(const DevicePointSet<T>& queries, const DevicePointSet<T>& sources,
                   const SettledPoints<T>* settled) {
        if (queries.count == 0) {
            return;
        }
        bool periodic = false;
        for (int axis = 0; axis < D; ++axis) {
            periodic = periodic || search_.box.period(axis) > 0;
        }
        if (periodic) {
            run_in<true>(queries, sources, settled);
        } else {
            run_in<false>(queries, sources, settled);
        }
    }

    template <bool Periodic>
    void run_in(const DevicePointSet<T>& queries, const DevicePointSet<T>& sources, const SettledPoints<T>* settled) {
        if (search_.all_pairs) {
            if (k() <= warp_size) {
                compare_all<Periodic, 1>(queries, sources, settled);
            } else {
                compare_all<Periodic, 2>(queries, sources, settled);
            }
        } else if (k() <= warp_size) {
            search_trees<Periodic, 1>(queries, sources, settled);
        } else {
            search_trees<Periodic, 2>(queries, sources, settled);
        }
    }

    [[nodiscard]] DeviceRequest<T> incomplete_request() const {
        DeviceRequest<T> request =
            request_in<T>(Frame<T>(), wanted_by(search_.call), row_memory<T>(*search_.call.rows));
        return request;
    }

    template <bool Periodic, int Rows>
    void compare_all(const DevicePointSet<T>& queries, const DevicePointSet<T>& sources,
                     const SettledPoints<T>* settled) {
        const DeviceBuffer<AllPairsJob<T>> job = work_.buffer<AllPairsJob<T>>(1);
        complete(work_, "search of all pairs",
                 CompleteAllPairs<T>{{queries.view(), sources.view(), {}, incomplete_request()},
                                     settled,
                                     wanted_by(search_.call),
                                     job.data()});
        launch_stored<SearchAllPairs<T, D, Periodic, Rows>>(
            work_, "search of all pairs", (queries.count + all_pairs_warps - 1) / all_pairs_warps, job.data());
    }

    /// Leaves as full as a warp can serve; those of few queries about as large in space as those of the sources.
    [[nodiscard]] static EvenShape shape_for(std::int64_t queries, std::int64_t sources) {
        constexpr std::int64_t coarsening = 8;
        const std::int64_t most = most_rows_of_leaf;
        return {std::clamp<std::int64_t>(queries * most / std::max<std::int64_t>(sources, 1), 1, most), coarsening,
                warp_size};
    }

    [[nodiscard]] static DeviceTree<T> view_of(const DevicePointSet<T>& points,
                                               const std::vector<OwnedDevicePlane<T>>& planes) {
        DeviceTree<T> tree;
        tree.points = points.view();
        tree.top = static_cast<int>(planes.size()) - 1;
        std::transform(planes.begin(), planes.end(), tree.planes.begin(),
                       [](const OwnedDevicePlane<T>& plane) { return plane.view(); });
        return tree;
    }

    template <bool Periodic, int Rows>
    void search_trees(const DevicePointSet<T>& queries, const DevicePointSet<T>& sources,
                      const SettledPoints<T>* settled) {
        const bool is_self = &queries == &sources;
        const bool by_leaf = k() <= longest_list && sources.count > 0;
        const auto source_planes = cut_evenly<T, D>(work_, sources, shape_for(sources.count, sources.count));
        std::vector<OwnedDevicePlane<T>> query_planes;
        if (by_leaf && !is_self) {
            query_planes = cut_evenly<T, D>(work_, queries, shape_for(queries.count, sources.count));
        }
        const auto& planes_of_queries = is_self ? source_planes : query_planes;
        const std::int64_t leaves = by_leaf ? planes_of_queries.front().nodes : 0;
        const LeavesOfWarps share = LeavesOfWarps::of(work_, leaves);

        const DeviceBuffer<LeafKernelJob<T>> leaf_job = work_.buffer<LeafKernelJob<T>>(by_leaf ? 1 : 0);
        const DeviceBuffer<SearchKernelJob<T>> query_job = work_.buffer<SearchKernelJob<T>>(1);
        const DeviceBuffer<std::int32_t> left = work_.buffer<std::int32_t>(by_leaf ? queries.count : 0);
        const DeviceBuffer<std::int32_t> left_count = work_.buffer<std::int32_t>(by_leaf ? 1 : 0);
        complete(work_, "search",
                 CompleteTreeSearch<T, D>{{view_of(queries, planes_of_queries),
                                           view_of(sources, source_planes),
                                           is_self,
                                           incomplete_request(),
                                           0,
                                           static_cast<std::int32_t>(leaves),
                                           share.leaves_of_warp,
                                           0,
                                           {left.data(), left_count.data()}},
                                          settled,
                                          search_.call.options.max_distance,
                                          search_.call.options.squared,
                                          leaf_job.data(),
                                          query_job.data()});
        if (by_leaf) {
            work_.fill(left_count.data(), 0, sizeof(std::int32_t));
            launch_stored<SearchLeaves<T, D, Periodic, Rows>>(work_, "search by leaf", share.blocks, leaf_job.data());
        }
        launch_stored<SearchTree<T, D, Periodic, Rows>>(work_, "search by query",
                                                        blocks_for_queries(work_, queries.count), query_job.data());
    }

    DeviceWork& work_;
    const DeviceKnnAsync& search_;
    DeviceBuffer<SettledPoints<T>> settled_; ///< sources, queries
};

template <Coordinate T, int D>
void search_async_on_device(DeviceWork& work, const DeviceKnnAsync& search) {
    AsyncSearch<T, D>(work, search).run();
}

} // namespace kith::detail::inline KITH_GPU
