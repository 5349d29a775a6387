// From the cuts of a plane to its nodes, and to the cuts of the coarser plane, on a GPU: a thread for each cut.
#pragma once

#include "cuda/intrinsics.hpp"
#include "tree/view.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// How many cuts have cells larger than n_max, for the n_max of every plane.
struct PlaneSizes {
    int planes = 0;
    std::array<std::int32_t, max_planes> n_max;
};

template <class Count>
struct CountCutsJob {
    Count cuts;
    const std::int32_t* size;
    PlaneSizes sizes;
    Count* counts; ///< of each plane; 0 before
};

template <class Count>
__global__ void count_cuts_kernel(const __grid_constant__ CountCutsJob<Count> job) {
    const std::int64_t cut = thread_index();
    const std::int32_t size = cut < job.cuts ? job.size[cut] : 0;
    for (int plane = 0; plane < job.sizes.planes; ++plane) {
        const unsigned larger = __ballot_sync(whole_warp, size > job.sizes.n_max[plane]);
        if (larger == 0) {
            return; // of the whole warp: n_max grows
        }
        if (threadIdx.x % warp_size == 0) {
            atomicAdd(&job.counts[plane], static_cast<Count>(__popc(larger)));
        }
    }
}

/// Flags the cuts of a plane that the coarser one keeps.
struct FlagCoarserCuts {
    const std::int32_t* size;
    std::int32_t n_max;
    std::uint8_t* is_kept;

    __device__ void operator()(std::int64_t cut) const { is_kept[cut] = size[cut] > n_max; }
};

/// A plane between its cuts, for each of them and one more. Those of a coarser plane are a selection of the finer
/// plane's; those of the leaves are all.
struct MakePlane {
    std::int32_t cuts;
    std::int32_t points;
    std::int32_t finer_nodes;     ///< of a coarser plane
    const std::int32_t* selected; ///< of the finer plane's cuts; null for leaves
    const std::int32_t* position; ///< of the finer plane's cuts; of the leaves' own
    const std::int32_t* size;
    std::int32_t* first_point; ///< nodes + 1
    std::int32_t* first_child; ///< nodes + 1, of a coarser plane
    std::int32_t* its_size;    ///< of the cells of a coarser plane's cuts

    __device__ void operator()(std::int64_t cut) const {
        const bool is_coarser = selected != nullptr;
        if (cut == cuts) {
            first_point[0] = 0;
            first_point[cuts + 1] = points;
            if (is_coarser) {
                first_child[0] = 0;
                first_child[cuts + 1] = finer_nodes;
            }
            return;
        }
        const std::int32_t source = is_coarser ? selected[cut] : static_cast<std::int32_t>(cut);
        first_point[cut + 1] = position[source];
        if (is_coarser) {
            first_child[cut + 1] = source + 1;
            its_size[cut] = size[source];
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
