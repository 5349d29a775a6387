// A neighbor search on a GPU that only puts work on the stream: no count is read, no memory taken but the caller's.
//
// As the search that waits (search_device.hpp), with a tree whose counts the number of points decides
// (tree/fixed_planes.hpp) and a frame that the device finds. The tree changes how long it takes, not what it finds.
// Where something is refused, jobs are completed so that no row is searched.
#pragma once

#include "cuda/stored_job.hpp"
#include "neighbors/search_device.hpp"
#include "tree/build_async.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Completes the jobs of a search in trees.
template <Coordinate T, int D>
struct CompleteTreeSearch {
    LeafKernelJob<T> job; ///< all but what the frame tells
    const ResolvedFrame<T>* resolved_frame;
    double max_distance;
    bool squared;
    LeafKernelJob<T>* by_leaf; ///< null: queries are searched for one by one
    SearchKernelJob<T>* by_query;

    __device__ void operator()() const {
        const Frame<T>& frame = resolved_frame->frame;
        const DeviceRequest<T> request =
            request_in<T>(frame, {job.request.k, job.request.exclude_self, squared, max_distance}, job.request.rows);
        if (by_leaf != nullptr) {
            *by_leaf = job;
            by_leaf->queries.period = frame.working_period;
            by_leaf->sources.period = frame.working_period;
            by_leaf->request = request;
            by_leaf->end_leaf = resolved_frame->is_refused ? job.first_leaf : job.end_leaf;
            by_leaf->first_reach = even_reach<T, D>(frame, job.sources.points.count, request.k + 1);
        }
        const DeviceRows only = by_leaf != nullptr ? job.left : DeviceRows{};
        *by_query = {job.queries.points,
                     job.sources,
                     request,
                     0,
                     resolved_frame->is_refused ? 0 : job.queries.points.count,
                     only};
        by_query->sources.period = frame.working_period;
    }
};

/// The request of a search whose frame only the device knows.
template <Coordinate T>
DeviceRequest<T> incomplete_request(const DeviceKnnCall& call) {
    const NeighborRows& rows = *call.rows;
    return request_in<T>(Frame<T>(), wanted_by(call),
                         row_memory<T>(rows.distances(), rows.indices(), rows.index_type()));
}

template <Coordinate T, int D>
class AsyncSearch {
public:
    AsyncSearch(DeviceWork& work, const DeviceKnnAsync& search)
        : work_(work), search_(search), resolved_frames_(work.buffer<ResolvedFrame<T>>(2)) {}

    void run() {
        ResolvedFrame<T>* const resolved_frame = resolved_frames_.data();
        const PlainBox box(search_.call.options.box, D);
        const AsyncPoints<T> of_sources{box, nullptr, resolved_frame, search_.status};
        const AsyncPoints<T> of_queries{box, resolved_frame, resolved_frame + 1, search_.status};
        const DevicePlaneTree<T> sources = build_tree_async<T, D>(work_, search_.points, usual_shape, of_sources);
        if (search_.queries) {
            search_trees(build_tree_async<T, D>(work_, *search_.queries, shape_of_queries(), of_queries), sources,
                         resolved_frame + 1);
        } else {
            search_trees(sources, sources, resolved_frame);
        }
    }

private:
    [[nodiscard]] std::int64_t k() const { return search_.call.k; }

    /// Whether leaves are searched for, and not only queries one by one.
    [[nodiscard]] bool goes_by_leaf() const { return k() <= max_list_length && search_.points.count() > 0; }

    /// Leaves of few queries are about as large in space as those of the sources.
    [[nodiscard]] FixedShape shape_of_queries() const {
        FixedShape shape = usual_shape;
        const std::int64_t sources = std::max<std::int64_t>(search_.points.count(), 1);
        shape.gaps_of_cut =
            goes_by_leaf()
                ? std::clamp<std::int64_t>(search_.queries->count() * shape.gaps_of_cut / sources, 1, shape.gaps_of_cut)
                : 0;
        return shape;
    }

    void search_trees(const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources,
                      const ResolvedFrame<T>* resolved_frame) {
        const std::int64_t count = queries.points.count;
        const bool by_leaf = goes_by_leaf() && count > 0;
        const std::int64_t leaves = by_leaf ? queries.planes.front().nodes : 0;
        const LeavesOfWarps share = LeavesOfWarps::of(work_, leaves);
        const DeviceBuffer<LeafKernelJob<T>> leaf_job = work_.buffer<LeafKernelJob<T>>(by_leaf ? 1 : 0);
        const DeviceBuffer<SearchKernelJob<T>> query_job = work_.buffer<SearchKernelJob<T>>(1);
        const DeviceBuffer<std::int32_t> left = work_.buffer<std::int32_t>(by_leaf ? count : 0);
        const DeviceBuffer<std::int32_t> left_count = work_.buffer<std::int32_t>(by_leaf ? 1 : 0);
        complete(work_, "search",
                 CompleteTreeSearch<T, D>{{queries.view(),
                                           sources.view(),
                                           &queries == &sources,
                                           incomplete_request<T>(search_.call),
                                           0,
                                           static_cast<std::int32_t>(leaves),
                                           share.leaves_of_warp,
                                           0,
                                           {left.data(), left_count.data()}},
                                          resolved_frame,
                                          search_.call.options.max_distance,
                                          search_.call.options.squared,
                                          leaf_job.data(),
                                          query_job.data()});
        if (by_leaf) {
            work_.fill(left_count.data(), 0, sizeof(std::int32_t));
        }
        with_search_kernel(is_periodic(search_.call.options.box, D), k(), [&]<bool Periodic, int List>() {
            launch_stored<SearchLeaves<T, D, Periodic, List>>(work_, "search by leaf", share.blocks, leaf_job.data());
            launch_stored<SearchTree<T, D, Periodic, rows_of_list<List>>>(
                work_, "search by query", blocks_for_queries(work_, count), query_job.data());
        });
    }

    DeviceWork& work_;
    const DeviceKnnAsync& search_;
    DeviceBuffer<ResolvedFrame<T>> resolved_frames_; ///< sources, queries
};

template <Coordinate T, int D>
void search_async_on_device(DeviceWork& work, const DeviceKnnAsync& search) {
    AsyncSearch<T, D>(work, search).run();
}

} // namespace kith::detail::inline KITH_GPU
