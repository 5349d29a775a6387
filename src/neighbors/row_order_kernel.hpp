// The rows of a radius search on a GPU in their order, and their distances as they are reported.
//
// Rows are sorted in place by a bitonic network (Batcher 1968), by (squared distance, index) or by index: a warp sorts
// a row in its part of shared memory, and names a longer one for a block, which sorts it in the device's memory. All
// neighbors of a row differ in that order, so the result does not depend on where they were. Cost: O(n log(n)^2)
// comparisons for n neighbors.
#pragma once

#include "neighbors/warp_row.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct RowOrderKernelJob {
    const std::int64_t* offsets; ///< where rows begin, and where the last one ends
    std::int32_t rows = 0;
    bool by_index = false;
    ReportScale<T> report;
    DeviceRowMemory<T> memory; ///< squared distances become reported ones
    DeviceRows long_rows;      ///< of more than max_short_row neighbors
};

inline constexpr int order_warps = 2;      ///< of a block, each with a row
inline constexpr int max_short_row = 1024; ///< neighbors that a warp sorts in shared memory
inline constexpr int order_threads = 512;  ///< of a block that sorts one long row

template <class T>
__device__ bool precedes(const RankKey<T>& a, const RankKey<T>& b, bool by_index) {
    return by_index ? a.index() < b.index() : a < b;
}

/// Sorts by a network of so many threads: compare(i, j), i < j, puts the lesser of two elements first, and wait() has
/// the threads wait for each other. As every comparison does so, elements that would fill the size up to a power of two
/// and follow all others would stay where they are: they are left out.
template <class Size, class Compare, class Wait>
__device__ void sort_by_network(Size size, int thread, int threads, const Compare& compare, const Wait& wait) {
    for (Size width = 2; width / 2 < size; width *= 2) { // halves that are sorted become one run
        for (Size distance = width / 2; distance > 0; distance /= 2) {
            const bool is_first = distance == width / 2;
            wait();
            for (Size pair = thread;; pair += threads) {
                const Size low = 2 * pair - (pair & (distance - 1));
                const Size high = is_first ? low ^ (width - 1) : low + distance;
                if (low >= size) {
                    break;
                }
                if (high < size) {
                    compare(low, high);
                }
            }
        }
    }
    wait();
}

/// The grid has a warp for each row.
template <class T>
__global__ void __launch_bounds__(order_warps* warp_size)
    order_short_rows_kernel(const __grid_constant__ RowOrderKernelJob<T> job) {
    __shared__ SharedArray<RankKey<T>, order_warps * max_short_row> keys;

    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t row = std::int64_t{blockIdx.x} * order_warps + warp;
    if (row >= job.rows) {
        return;
    }
    const std::int64_t begin = job.offsets[row];
    const std::int64_t length = job.offsets[row + 1] - begin;
    if (length > max_short_row) {
        if (lane == 0) {
            job.long_rows.rows[atomicAdd(job.long_rows.count, 1)] = static_cast<std::int32_t>(row);
        }
        return;
    }
    const int first = warp * max_short_row;
    const int size = static_cast<int>(length);
    for (int i = lane; i < size; i += warp_size) {
        keys[first + i] = job.memory.read(begin + i);
    }
    sort_by_network(
        size, lane, warp_size,
        [&](int low, int high) {
            const RankKey<T> a = keys[first + low];
            const RankKey<T> b = keys[first + high];
            if (precedes(b, a, job.by_index)) {
                keys[first + low] = b;
                keys[first + high] = a;
            }
        },
        [] { __syncwarp(); });
    for (int i = lane; i < size; i += warp_size) {
        const RankKey<T> key = keys[first + i];
        job.memory.write(begin + i, reported(key.squared(), job.report), key.index());
    }
}

/// Blocks take one row after the other.
template <class T>
__global__ void __launch_bounds__(order_threads)
    order_long_rows_kernel(const __grid_constant__ RowOrderKernelJob<T> job) {
    const int thread = static_cast<int>(threadIdx.x);
    for (std::int64_t i = blockIdx.x; i < *job.long_rows.count; i += gridDim.x) {
        const std::int32_t row = job.long_rows.rows[i];
        const std::int64_t begin = job.offsets[row];
        const std::int64_t size = job.offsets[row + 1] - begin;
        sort_by_network(
            size, thread, order_threads,
            [&](std::int64_t low, std::int64_t high) {
                const RankKey<T> a = job.memory.read(begin + low);
                const RankKey<T> b = job.memory.read(begin + high);
                if (precedes(b, a, job.by_index)) {
                    job.memory.write(begin + low, b.squared(), b.index());
                    job.memory.write(begin + high, a.squared(), a.index());
                }
            },
            [] { __syncthreads(); });
        for (std::int64_t place = begin + thread; place < begin + size; place += order_threads) {
            job.memory.distances[place] = reported(job.memory.distances[place], job.report);
        }
    }
}

} // namespace kith::detail::inline KITH_GPU
