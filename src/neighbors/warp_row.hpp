// One row of a result, found and written by a warp.
//
// A list holds so many neighbors. Where more are wanted, the candidates are gone through again for those behind the
// last one found, as often as the row takes.
#pragma once

#include "neighbors/device_request.hpp"
#include "neighbors/warp_top_k.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <class T>
__device__ T reported(T squared, const ReportScale<T>& report) {
    // Zero, which most self-searches find in every row, would take the slow path of the correctly rounded root.
    return report.power(report.squared || !(squared > 0) ? squared : root(squared));
}

/// Writes one neighbor of a row, or that it is missing.
template <class T>
__device__ void write_neighbor(const DeviceRequest<T>& request, std::int64_t position, RankKey<T> key) {
    const bool missing = !(key < no_candidate<T>());
    if (request.rows.indices != nullptr) {
        request.rows.indices[position] = missing ? -1 : key.index();
    }
    if (request.rows.wide_indices != nullptr) {
        request.rows.wide_indices[position] = missing ? -1 : key.index();
    }
    if (request.rows.distances != nullptr) {
        request.rows.distances[position] =
            missing ? std::numeric_limits<T>::infinity() : reported(key.squared(), request.report);
    }
}

/// Writes what a warp found of one row: `nearest` holds the neighbors from this rank on.
template <class T, int Rows, class Nearest>
__device__ void write_ranks(const DeviceRequest<T>& request, const Nearest& nearest, const DeviceQuery& query,
                            std::int64_t first_rank) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t row = request.first_position < 0 ? query.index : query.position - request.first_position;
#pragma unroll
    for (int part = 0; part < Rows; ++part) {
        const std::int64_t rank = first_rank + part * warp_size + lane;
        if (rank < request.k) {
            write_neighbor(request, row * request.k + rank, nearest.of_row(part));
        }
    }
}

/// Fills the row of a query, or no row where that is nobody's. Each pass calls search(nearest, offer), which hands every
/// candidate that may be nearer than nearest.bound() to offer(key), the whole warp at once, no_candidate() where a lane
/// has none. The waiting room is waiting[first_waiting] and what follows.
template <class T, int Rows, int Size, class Search>
__device__ void find_row(const DeviceRequest<T>& request, SharedArray<RankKey<T>, Size>& waiting, int first_waiting,
                         const DeviceQuery& query, const Search& search) {
    using Nearest = NearestOfWarp<T, Rows, Size>;
    const std::int32_t excluded = request.exclude_self ? query.index : -1;
    RankKey<T> after = no_candidate<T>(); // the last one that an earlier pass found
    for (std::int64_t rank = 0; rank < request.k; rank += Nearest::capacity) {
        const std::int64_t left = request.k - rank;
        Nearest nearest(waiting, first_waiting, left < Nearest::capacity ? static_cast<int>(left) : Nearest::capacity,
                        request.limit);
        search(nearest, [&](RankKey<T> key) {
            nearest.offer(key, key < nearest.bound() && (rank == 0 || after < key) && key.index() != excluded);
        });
        nearest.flush();
        if (query.index >= 0) {
            write_ranks<T, Rows>(request, nearest, query, rank);
        }
        after = nearest.last();
    }
}

} // namespace kith::detail::inline KITH_GPU
