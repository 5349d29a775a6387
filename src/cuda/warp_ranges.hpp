// Ranges of whole numbers, one of each lane, gone through by the whole warp.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Calls visit(number, is_one) for every number of every range, a number a lane, the ranges one after the other; is_one
/// is false where a lane has none, and the number then the last of all. Each lane's range starts at `first` and has
/// `count` numbers; only the last lanes may have none. Stops early, with false, if visit, which must say the same to
/// all lanes, does.
template <class Visit>
__device__ bool visit_ranges(std::int32_t first, std::int32_t count, const Visit& visit) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    std::int32_t end = count; // where the range ends when all are laid side by side
#pragma unroll
    for (int lanes = 1; lanes < warp_size; lanes *= 2) {
        const std::int32_t before = __shfl_up_sync(whole_warp, end, lanes);
        end += lane >= lanes ? before : 0;
    }
    const std::int32_t begin = end - count;
    const std::int32_t shift = first - begin;
    const std::int32_t total = __shfl_sync(whole_warp, end, warp_size - 1);
    // Where the range begins from the numbers at hand on; after them all if it has none.
    std::uint32_t from_here = count > 0 ? static_cast<std::uint32_t>(begin) : ~0U;
    int last_range = -1; // of those that begin before the numbers at hand
    for (std::int32_t start = 0; start < total; start += warp_size, from_here -= warp_size) {
        const unsigned begins = __reduce_add_sync(whole_warp, from_here < warp_size ? 1U << from_here : 0U);
        const int range = last_range + __popc(begins & ((2U << lane) - 1));
        last_range += __popc(begins);
        const std::int32_t number = device_min(start + lane, total - 1) + __shfl_sync(whole_warp, shift, range);
        if (!visit(number, start + lane < total)) {
            return false;
        }
    }
    return true;
}

} // namespace kith::detail::inline KITH_GPU
