// Ranges of whole numbers, one of each lane, gone through by the whole warp.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Calls visit(number, is_one) for every number of every range, a number a lane, the ranges one after the other; is_one
/// is false where a lane has none. Each lane's range starts at `first` and has `count` numbers. Stops early, with false,
/// if visit, which must say the same to all lanes, does.
template <class Visit>
__device__ bool visit_ranges(std::int32_t first, std::int32_t count, const Visit& visit) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    std::int32_t end = count; // where the range ends when all are laid side by side
#pragma unroll
    for (int lanes = 1; lanes < warp_size; lanes *= 2) {
        const std::int32_t before = __shfl_up_sync(whole_warp, end, lanes);
        end += lane >= lanes ? before : 0;
    }
    const std::int32_t shift = first - (end - count);
    const std::int32_t total = __shfl_sync(whole_warp, end, warp_size - 1);
    for (std::int32_t start = 0; start < total; start += warp_size) {
        const std::int32_t position = start + lane;
        int range = 0; // the first one that ends behind the position
#pragma unroll
        for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
            const std::int32_t end_there = __shfl_sync(whole_warp, end, range + lanes - 1);
            range += end_there <= position ? lanes : 0;
        }
        const std::int32_t number = position + __shfl_sync(whole_warp, shift, range);
        if (!visit(number, position < total)) {
            return false;
        }
    }
    return true;
}

} // namespace kith::detail::inline KITH_GPU
