// The neighbor search by brute force on a GPU that only puts work on the stream (neighbors/search_async.hpp).
#pragma once

#include "engines/brute_force/all_pairs_kernel.hpp"
#include "neighbors/search_async.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T>
struct CompleteAllPairs {
    AllPairsJob<T> job; ///< all but what the frame tells
    const ResolvedFrame<T>* resolved_frame;
    WantedNeighbors wanted;
    AllPairsJob<T>* completed;

    __device__ void operator()() const {
        *completed = job;
        completed->period = resolved_frame->frame.working_period;
        completed->request = request_in<T>(resolved_frame->frame, wanted, job.request.rows);
        completed->queries.count = resolved_frame->is_refused ? 0 : job.queries.count;
        completed->sources.count = resolved_frame->is_refused ? 0 : job.sources.count;
    }
};

template <Coordinate T, int D>
void compare_all_async(DeviceWork& work, const DeviceKnnAsync& search, const DevicePointSet<T>& queries,
                       const DevicePointSet<T>& sources, const ResolvedFrame<T>* resolved_frame) {
    const DeviceBuffer<AllPairsJob<T>> job = work.buffer<AllPairsJob<T>>(1);
    complete(work, "search of all pairs",
             CompleteAllPairs<T>{{queries.view(), sources.view(), {}, incomplete_request<T>(search.call)},
                                 resolved_frame,
                                 wanted_by(search.call),
                                 job.data()});
    const std::int64_t blocks = (queries.count + all_pairs_warps - 1) / all_pairs_warps;
    with_search_kernel(is_periodic(search.call.options.box, D), search.call.k, [&]<bool Periodic, int List>() {
        launch_stored<SearchAllPairs<T, D, Periodic, rows_of_list<List>>>(work, "search of all pairs", blocks,
                                                                          job.data());
    });
}

} // namespace kith::detail::inline KITH_GPU
