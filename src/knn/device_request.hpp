// What a search kernel is asked for.
#pragma once

#include "knn/candidate.hpp"
#include "knn/rank_key.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct DeviceRequest {
    std::int64_t k = 1;
    bool exclude_self = false;
    RankKey<T> limit; ///< only what comes before it counts; all that is as far does, so its index is the largest
    ReportScale<T> report;
    std::int32_t* indices; ///< the row of a query is that of its original index
    T* distances;
};

/// Rows that one kernel leaves to another: positions among the sorted queries, in no order.
struct DeviceRows {
    std::int32_t* rows = nullptr; ///< room for all
    std::int32_t* count = nullptr;
};

} // namespace kith::detail::inline KITH_GPU
