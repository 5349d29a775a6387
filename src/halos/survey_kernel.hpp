// One look at all rows: which belong to groups that are described, how fast the fastest is, whether the positions of
// these groups are below a bound, and whether any row is one that the catalog refuses. Which row that is, and what to
// say of it, is left to the CPU's own checks.
//
// Few threads with many rows each, so that few of them meet at the counters.
#pragma once

#include "cuda/intrinsics.hpp"
#include "halos/device_columns.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

struct Survey {
    unsigned long long kept;             ///< rows of groups that are described
    unsigned long long largest_velocity; ///< the bits of its absolute value; not a number and infinities are largest
    unsigned long long refused;          ///< rows whose label, mass or type cannot be
    unsigned long long beyond; ///< members of groups that are described whose positions are not below the bound
};

/// For each of few threads, rows from its own number on, in steps of the number of threads.
struct SurveyJob {
    std::int64_t rows;
    const std::int32_t* labels;
    std::int32_t all_groups;
    std::int32_t groups; ///< that are described: the first ones
    DeviceColumn masses;
    DeviceColumn velocities;
    int dimension;
    const std::uint8_t* types; ///< null: all are of type 1
    std::uint8_t* is_kept;
    Survey* survey; ///< zeros before
    DeviceColumn positions;
    double positions_below; ///< what the absolute values of positions are compared with; infinity: they are not

    __device__ void operator()(std::int64_t thread) const {
        Survey mine{};
        for (std::int64_t row = thread; row < rows; row += std::int64_t{gridDim.x} * blockDim.x) {
            const std::int32_t label = labels[row];
            const bool is_described = label >= 0 && label < groups;
            is_kept[row] = is_described ? 1 : 0;
            mine.kept += is_described ? 1 : 0;
            mine.refused += is_refused(row, label) ? 1 : 0;
            if (is_described && positions_below <= std::numeric_limits<double>::max()) {
                mine.beyond += is_beyond(row) ? 1 : 0;
            }
            for (int axis = 0; velocities.axes[0] != nullptr && axis < dimension; ++axis) {
                constexpr unsigned long long without_sign = ~0ULL >> 1;
                const unsigned long long bits = std::bit_cast<std::uint64_t>(velocities(row, axis)) & without_sign;
                mine.largest_velocity = device_max(mine.largest_velocity, bits); // in the order of the numbers
            }
        }
        __syncwarp();
        for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
            mine.kept += __shfl_xor_sync(whole_warp, mine.kept, lanes);
            mine.largest_velocity =
                device_max(mine.largest_velocity, __shfl_xor_sync(whole_warp, mine.largest_velocity, lanes));
            mine.refused += __shfl_xor_sync(whole_warp, mine.refused, lanes);
            mine.beyond += __shfl_xor_sync(whole_warp, mine.beyond, lanes);
        }
        if (threadIdx.x % warp_size == 0) {
            atomicAdd(&survey->kept, mine.kept);
            atomicMax(&survey->largest_velocity, mine.largest_velocity);
            atomicAdd(&survey->refused, mine.refused);
            atomicAdd(&survey->beyond, mine.beyond);
        }
    }

    [[nodiscard]] __device__ bool is_beyond(std::int64_t row) const {
        bool found = false;
        for (int axis = 0; axis < dimension; ++axis) {
            const double x = positions(row, axis);
            found = found || !(x < positions_below && x > -positions_below);
        }
        return found;
    }
    [[nodiscard]] __device__ bool is_refused(std::int64_t row, std::int32_t label) const {
        const double mass = masses.axes[0] != nullptr ? masses(row, 0) : 1.0;
        return label < -1 || label >= all_groups || (types != nullptr && types[row] >= max_types) || !(mass >= 0) ||
               mass > std::numeric_limits<double>::max();
    }
};

} // namespace kith::detail::inline KITH_GPU
