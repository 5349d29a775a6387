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

/// Writes neighbors to where the request wants them: for_each(write) calls write(position, neighbor) for each, as often
/// as there are arrays.
template <class T, class ForEach>
__device__ void write_neighbors(const DeviceRequest<T>& request, const ForEach& for_each) {
    const auto is_missing = [](RankKey<T> key) { return key.index() == no_candidate<T>().index(); };
    const auto index_of = [&](RankKey<T> key) { return is_missing(key) ? -1 : key.index(); };
    if (request.rows.indices != nullptr) {
        for_each([&](std::int64_t position, RankKey<T> key) { request.rows.indices[position] = index_of(key); });
    }
    if (request.rows.wide_indices != nullptr) {
        for_each([&](std::int64_t position, RankKey<T> key) { request.rows.wide_indices[position] = index_of(key); });
    }
    if (request.rows.distances != nullptr) {
        for_each([&, report = request.frame->report](std::int64_t position, RankKey<T> key) {
            request.rows.distances[position] =
                is_missing(key) ? std::numeric_limits<T>::infinity() : reported(key.squared(), report);
        });
    }
}

/// Writes what a warp found of one row: `nearest` holds the neighbors from this rank on.
template <class T, int Rows, class Nearest>
__device__ void write_ranks(const DeviceRequest<T>& request, const Nearest& nearest, const DeviceQuery& query,
                            std::int64_t first_rank) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t row = request.first_position < 0 ? query.index : query.position - request.first_position;
    write_neighbors(request, [&](const auto& write) {
#pragma unroll
        for (int part = 0; part < Rows; ++part) {
            const std::int64_t rank = first_rank + part * warp_size + lane;
            if (rank < request.k) {
                write(row * request.k + rank, nearest.of_row(part));
            }
        }
    });
}

/// Fills the row of a query, or no row where that is nobody's. Each pass calls search(nearest, offer), which hands
/// every candidate that may be nearer than nearest.bound() to offer(key), the whole warp at once, no_candidate() where
/// a lane has none. The waiting room is waiting[first_waiting] and what follows.
template <class T, int Rows, int Size, class Search>
__device__ void find_row(const DeviceRequest<T>& request, SharedArray<RankKey<T>, Size>& waiting, int first_waiting,
                         const DeviceQuery& query, const Search& search) {
    using Nearest = NearestOfWarp<T, Rows, Size>;
    const std::int32_t excluded = request.exclude_self ? query.index : -1;
    RankKey<T> after = no_candidate<T>(); // the last one that an earlier pass found
    for (std::int64_t rank = 0; rank < request.k; rank += Nearest::capacity) {
        const std::int64_t left = request.k - rank;
        Nearest nearest(waiting, first_waiting, left < Nearest::capacity ? static_cast<int>(left) : Nearest::capacity,
                        request.frame->limit);
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
