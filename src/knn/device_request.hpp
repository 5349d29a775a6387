// What a kernel is asked for, and how it writes rows.
#pragma once

#include "cuda/words.hpp"
#include "knn/candidate.hpp"
#include "knn/rank_key.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail {

template <class T>
struct DeviceRequest {
    std::int64_t k = 1;
    bool exclude_self = false;
    RankKey<T> limit; ///< only what comes before it counts
    ReportScale<T> report;
    std::int32_t* indices; ///< the row of a query is that of its original index
    T* distances;
};

template <class T>
__device__ T reported(T squared, const ReportScale<T>& report) {
    return report.power(report.squared ? squared : root(squared));
}

/// Writes what a warp found of one row: `nearest` holds the neighbours from this rank on.
template <class T, int Rows, class Nearest>
__device__ void write_ranks(const DeviceRequest<T>& request, const Nearest& nearest, std::int64_t row,
                            std::int64_t first_rank) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll
    for (int part = 0; part < Rows; ++part) {
        const std::int64_t rank = first_rank + part * warp_size + lane;
        if (rank < request.k) {
            const RankKey<T> key = nearest.of_row(part);
            const bool missing = !(key < no_candidate<T>());
            request.indices[row * request.k + rank] = missing ? -1 : key.index();
            request.distances[row * request.k + rank] =
                missing ? std::numeric_limits<T>::infinity() : reported(key.squared(), request.report);
        }
    }
}

} // namespace kith::detail
