// What a search kernel is asked for.
#pragma once

#include "knn/candidate.hpp"
#include "knn/rank_key.hpp"

#include <cstdint>

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

} // namespace kith::detail
