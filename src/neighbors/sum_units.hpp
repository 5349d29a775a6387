// The units of sums without order, from the columns of a call.
#pragma once

#include <kith/sum_neighbors.hpp>

#include "neighbors/neighbor_sums.hpp"
#include "support/fixed_sum.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

/// The exponent of the largest of some numbers. Runs in parallel.
template <class Number>
int largest_exponent(std::int64_t count, const Number& number) {
    return parallel_reduce(
        0, count, 1 << 14, SplitNumber::exponent_of_zero,
        [&](std::int64_t begin, std::int64_t end, int largest) {
            for (std::int64_t i = begin; i < end; ++i) {
                largest = std::max(largest, split(number(i)).exponent);
            }
            return largest;
        },
        [](int left, int right) { return std::max(left, right); });
}

inline FixedUnits units_of(const SumOptions& options, std::int64_t points) {
    FixedUnits units;
    units.terms = std::max<std::int64_t>(points, 1);
    if (const auto& masses = options.masses) {
        units.masses = largest_exponent(masses->count(), [&](std::int64_t i) { return (*masses)[i]; });
    }
    for (const ScalarsView& field : options.fields) {
        units.fields.push_back(largest_exponent(field.count(), [&](std::int64_t i) { return field[i]; }));
    }
    return units;
}

} // namespace kith::detail
