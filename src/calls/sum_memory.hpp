// The memory of sums over neighbors.
#pragma once

#include <kith/sum_neighbors.hpp>

#include "calls/calls.hpp"
#include "calls/zeros.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// Memory for all results. A column that was not asked for stays empty.
inline void allocate(const SumCall& call, NeighborSums& sums) {
    const Execution& execution = call.options.execution;
    const std::int64_t rows = call.row_count();
    const int dimension = call.points.dimension();
    const auto numbers = [&](std::int64_t columns, const char* what) {
        return zeros<double>(execution, rows * columns, what);
    };
    sums.density = numbers(1, "the densities");
    if (call.is_by_count()) {
        sums.reach = numbers(1, "the reaches of the kernels");
    } else {
        sums.counts = zeros<std::int64_t>(execution, rows, "the numbers of neighbors");
    }
    if (call.options.density_gradient) {
        sums.density_gradient = numbers(dimension, "the gradients of the density");
    }
    sums.fields.resize(call.options.fields.size());
    const FieldStatistics& wanted = call.options.statistics;
    for (FieldSums& field : sums.fields) {
        const auto allocate_if = [&](bool is_wanted, std::vector<double>& column, std::int64_t columns) {
            if (is_wanted) {
                column = numbers(columns, "the sums of a field");
            }
        };
        allocate_if(wanted.sum, field.sum, 1);
        allocate_if(wanted.mean, field.mean, 1);
        allocate_if(wanted.variance, field.variance, 1);
        allocate_if(wanted.least, field.least, 1);
        allocate_if(wanted.greatest, field.greatest, 1);
        allocate_if(wanted.gradient, field.gradient, dimension);
    }
}

} // namespace kith::detail
