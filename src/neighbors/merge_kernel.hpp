// Rows that were found among pieces of the sources, made into rows of all, on a GPU: a warp for each row.
//
// Rows between pieces are raw: squared distances in working units, a missing neighbor being an infinite one of index
// -1, so that (squared distance, index) still orders them. Merged rows are scaled when they are complete.
#pragma once

#include "cuda/intrinsics.hpp"
#include "neighbors/device_request.hpp"
#include "neighbors/warp_row.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Rows side by side in scratch.
template <class T>
struct RawRows {
    T* squared;
    std::int32_t* indices;

    __device__ RankKey<T> operator[](std::int64_t position) const {
        const std::int32_t index = indices[position];
        return index < 0 ? no_candidate<T>() : RankKey<T>(squared[position], index);
    }
};

template <class T>
struct MergeKernelJob {
    std::int64_t rows;
    std::int64_t k;
    RawRows<T> one;
    RawRows<T> other;
    RawRows<T> merged;
};

inline constexpr int merge_warps = 4; ///< of a block

/// How many of a row come before a key.
template <class T>
__device__ std::int64_t rank_in(const RawRows<T>& rows, std::int64_t begin, std::int64_t k, RankKey<T> key) {
    std::int64_t first = 0; // of those that may not come before it
    for (std::int64_t size = k; size > 0;) {
        const std::int64_t half = size / 2;
        const bool is_before = rows[begin + first + half] < key;
        first += is_before ? half + 1 : 0;
        size = is_before ? size - half - 1 : half;
    }
    return first;
}

/// No source is in both rows.
template <class T>
__global__ void __launch_bounds__(merge_warps* warp_size)
    merge_rows_kernel(const __grid_constant__ MergeKernelJob<T> job) {
    const std::int64_t row = std::int64_t{blockIdx.x} * merge_warps + static_cast<int>(threadIdx.x) / warp_size;
    if (row >= job.rows) {
        return;
    }
    const std::int64_t begin = row * job.k;
    const auto put = [&](std::int64_t rank, RankKey<T> key) {
        if (rank < job.k) {
            const bool missing = !(key < no_candidate<T>());
            job.merged.squared[begin + rank] = missing ? std::numeric_limits<T>::infinity() : key.squared();
            job.merged.indices[begin + rank] = missing ? -1 : key.index();
        }
    };
    for (std::int64_t i = static_cast<int>(threadIdx.x) % warp_size; i < job.k; i += warp_size) {
        const RankKey<T> mine = job.one[begin + i];
        const RankKey<T> others = job.other[begin + i];
        put(i + rank_in(job.other, begin, job.k, mine), mine);
        // Missing neighbors are equal: those of the first row come first.
        const bool missing = !(others < no_candidate<T>());
        put(i + (missing ? job.k : rank_in(job.one, begin, job.k, others)), others);
    }
}

/// Complete rows to where they were asked for, a neighbor at a time.
template <class T>
struct ReportRows {
    RawRows<T> raw;
    ReportScale<T> report;
    DeviceRowMemory<T> rows;

    __device__ void operator()(std::int64_t i) const {
        const std::int32_t index = raw.indices[i];
        if (rows.indices != nullptr) {
            rows.indices[i] = index;
        }
        if (rows.wide_indices != nullptr) {
            rows.wide_indices[i] = index;
        }
        if (rows.distances != nullptr) {
            rows.distances[i] = index < 0 ? std::numeric_limits<T>::infinity() : reported(raw.squared[i], report);
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
