// The memory of sums over neighbors.
#pragma once

#include <kith/sum_neighbors.hpp>

#include "calls/calls.hpp"
#include "calls/zeros.hpp"
#include "neighbors/sum_columns.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Memory for all results. A column that was not asked for stays empty.
inline void allocate(const SumCall& call, NeighborSums& sums) {
    for_each_sum(
        call.neighborhood, call.options, call.points.dimension(),
        [&]<class Value>(int width, const char* what, std::vector<Value>& column) {
            column = zeros<Value>(call.options.execution, call.row_count() * width, what);
        },
        sums);
}

} // namespace kith::detail
