// The brute-force engine on a GPU, from points of the device in the order given to rows in its memory.
#pragma once

#include "cuda/launch.hpp"
#include "engines/brute_force/all_pairs_kernel.hpp"
#include "points/gather_device.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// The rows of all queries.
template <Coordinate T, int D>
void run_all_pairs(DeviceWork& work, const DevicePointSet<T>& queries, const DevicePointSet<T>& sources,
                   const DeviceRequest<T>& request) {
    const AllPairsJob<T> job{queries.view(), sources.view(), request};
    const std::int64_t blocks = (queries.count + all_pairs_warps - 1) / all_pairs_warps;
    const auto run = [&](auto* kernel) {
        launch(work, "search of all pairs", kernel, blocks, all_pairs_warps * warp_size, job);
    };
    const bool is_short = request.k <= warp_size;
    if (sources.frame.periodic) {
        run(is_short ? search_all_pairs_kernel<T, D, true, 1> : search_all_pairs_kernel<T, D, true, 2>);
    } else {
        run(is_short ? search_all_pairs_kernel<T, D, false, 1> : search_all_pairs_kernel<T, D, false, 2>);
    }
}

} // namespace kith::detail::inline KITH_GPU
