// What a search kernel is asked for.
#pragma once

#include "neighbors/candidate.hpp"
#include "neighbors/device_entry.hpp"
#include "neighbors/rank_key.hpp"
#include "points/point_set_view.hpp"

#include <kith/knn.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Where rows go: what is null is not wanted; indices have one width or the other.
template <class T>
struct DeviceRowMemory {
    T* distances = nullptr;
    std::int32_t* indices = nullptr;
    std::int64_t* wide_indices = nullptr;

    /// A neighbor, where both halves are wanted.
    __device__ RankKey<T> read(std::int64_t place) const {
        return {distances[place], indices != nullptr ? indices[place] : static_cast<std::int32_t>(wide_indices[place])};
    }
    __device__ void write(std::int64_t place, T distance, std::int32_t index) const {
        distances[place] = distance;
        if (indices != nullptr) {
            indices[place] = index;
        } else {
            wide_indices[place] = index;
        }
    }
};

template <class T>
DeviceRowMemory<T> row_memory(void* distances, void* indices, IndexType type) {
    const bool wide = type == IndexType::int64;
    return {static_cast<T*>(distances), wide ? nullptr : static_cast<std::int32_t*>(indices),
            wide ? static_cast<std::int64_t*>(indices) : nullptr};
}

/// What a search takes from the frame of the sources, in memory of the device.
template <class T>
struct SearchFrame {
    Periods<T> period;
    RankKey<T> limit; ///< only what comes before it counts; all that is as far does, so its index is the largest
    ReportScale<T> report;
    float first_reach = 0;   ///< squared radius that may hold k points, for a warp that knows no better
    bool is_refused = false; ///< nothing is searched for
};

template <class T>
struct DeviceRequest {
    std::int64_t k = 1;
    bool exclude_self = false;
    const SearchFrame<T>* frame = nullptr;
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

inline WantedNeighbors wanted_by(const DeviceKnnCall& call) {
    return {call.k, call.options.exclude_self, call.options.squared, call.options.max_distance};
}

template <Coordinate T>
DeviceRequest<T> device_request(const DeviceKnnCall& call, const SearchFrame<T>* frame,
                                const DeviceRowMemory<T>& rows) {
    return {call.k, call.options.exclude_self, frame, rows, call.options.z_order ? 0 : -1};
}

/// The squared radius of a ball that holds so many of the points if all fill their extent evenly, in working units; 0
/// if they fill no volume.
template <Coordinate T, int D>
KITH_HOST_DEVICE float even_reach(const Frame<T>& frame, std::int64_t points, std::int64_t needed) {
    double volume = 1;
    for (int axis = 0; axis < D; ++axis) {
        volume *= frame.extent[axis] * std::ldexp(1.0, frame.exponent);
    }
    double ball = D % 2 == 0 ? 1 : 2; // of radius 1: from 2 pi / d of that with two dimensions less
    for (int d = D % 2 == 0 ? 2 : 3; d <= D; d += 2) {
        ball *= 2 * 3.14159265358979 / d;
    }
    const double share = static_cast<double>(needed) / static_cast<double>(points > 0 ? points : 1);
    return static_cast<float>(std::pow(volume * share / ball, 2.0 / D));
}

/// For a search among so many sources.
template <Coordinate T, int D>
KITH_HOST_DEVICE SearchFrame<T> search_frame(const Frame<T>& frame, const WantedNeighbors& wanted,
                                             std::int64_t sources) {
    return {frame.working_period,
            {frame.squared_radius(wanted.max_distance), std::numeric_limits<std::int32_t>::max()},
            ReportScale<T>(frame, wanted.squared),
            even_reach<T, D>(frame, sources, wanted.k + 1),
            false};
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
