// Weights of the neighbors of one query, and sums over them, for every instruction set. All operations are rounded
// correctly, so all give the same bits.
//
// Term k of a sum is added in lane k mod 16, and lanes are joined by pairs. Arrays of weights and their factors hold
// whole blocks of lanes, with weights of 0 and factors that are finite behind the neighbors.
#pragma once

#include <kith/sum_neighbors.hpp>

#include <cstdint>

namespace kith::detail {

inline constexpr std::int64_t sum_lanes = 16;

constexpr std::int64_t in_whole_lanes(std::int64_t count) noexcept {
    return (count + sum_lanes - 1) / sum_lanes * sum_lanes;
}

/// The neighbors of a query.
template <Coordinate T>
struct WeighedRow {
    const T* distances;
    const double* masses; ///< null: 1 each
    std::int64_t count;
    double inverse_reach; ///< of the kernel; finite
};

/// Writes m w(u) of each neighbor, and 0 in the lanes behind them, unless `weights` is null; returns the sum.
double weigh(SmoothingKernel kernel, const WeighedRow<float>& row, double* weights);
double weigh(SmoothingKernel kernel, const WeighedRow<double>& row, double* weights);
/// Writes m w'(u)/u of each neighbor, of a kernel that has a slope, and 0 in the lanes behind them.
void weigh_slopes(SmoothingKernel kernel, const WeighedRow<float>& row, double* weights);
void weigh_slopes(SmoothingKernel kernel, const WeighedRow<double>& row, double* weights);
/// The sum of products.
double sum_of_products(const double* a, const double* b, std::int64_t count);

} // namespace kith::detail
