// What a search kernel is asked for.
#pragma once

#include "neighbors/candidate.hpp"
#include "neighbors/device_entry.hpp"
#include "neighbors/rank_key.hpp"

#include <kith/knn.hpp>

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Where rows go: what is null is not wanted; indices have one width or the other.
template <class T>
struct DeviceRowMemory {
    T* distances = nullptr;
    std::int32_t* indices = nullptr;
    std::int64_t* wide_indices = nullptr;
};

template <class T>
DeviceRowMemory<T> row_memory(void* distances, void* indices, IndexType type) {
    const bool wide = type == IndexType::int64;
    return {static_cast<T*>(distances), wide ? nullptr : static_cast<std::int32_t*>(indices),
            wide ? static_cast<std::int64_t*>(indices) : nullptr};
}

template <class T>
struct DeviceRequest {
    std::int64_t k = 1;
    bool exclude_self = false;
    RankKey<T> limit; ///< only what comes before it counts; all that is as far does, so its index is the largest
    ReportScale<T> report;
    DeviceRowMemory<T> rows;
    std::int32_t first_position = -1; ///< rows are those of sorted queries from this one on; -1: of original indices
};

/// The neighbors that count, in the units of the points.
struct WantedNeighbors {
    std::int64_t k = 1;
    bool exclude_self = false;
    bool squared = false;
    double max_distance = std::numeric_limits<double>::infinity();
};

template <Coordinate T>
KITH_HOST_DEVICE DeviceRequest<T> request_in(const Frame<T>& frame, const WantedNeighbors& wanted,
                                             const DeviceRowMemory<T>& rows) {
    const T radius = frame.load_radius(wanted.max_distance);
    return {wanted.k,
            wanted.exclude_self,
            {radius * radius, std::numeric_limits<std::int32_t>::max()},
            ReportScale<T>(frame, wanted.squared),
            rows,
            -1};
}

inline WantedNeighbors wanted_by(const DeviceKnnCall& call) {
    return {call.k, call.options.exclude_self, call.options.squared, call.options.max_distance};
}

template <Coordinate T>
DeviceRequest<T> device_request(const Frame<T>& frame, const DeviceKnnCall& call) {
    return request_in<T>(frame, wanted_by(call), {});
}

/// A query as its row needs it.
struct DeviceQuery {
    std::int32_t index;    ///< the original one; -1: nobody's
    std::int32_t position; ///< among the sorted queries
};

/// Rows that one kernel leaves to another: positions among the sorted queries, in no order.
struct DeviceRows {
    std::int32_t* rows = nullptr; ///< room for all
    std::int32_t* count = nullptr;
};

} // namespace kith::detail::inline KITH_GPU
