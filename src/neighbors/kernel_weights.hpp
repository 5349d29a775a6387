// Weights of the neighbors of one query, and sums over them, for every instruction set. All operations are rounded
// correctly, so all give the same bits.
//
// Arrays hold whole blocks of lanes: behind the neighbors masses and distances are 0, and all other numbers finite. Term k of a sum is
// added in lane k mod 16, and lanes are joined by pairs.
#pragma once

#include <kith/sum_neighbors.hpp>

#include <cstdint>

namespace kith::detail {

inline constexpr std::int64_t sum_lanes = 16;

constexpr std::int64_t in_whole_lanes(std::int64_t count) noexcept {
    return (count + sum_lanes - 1) / sum_lanes * sum_lanes;
}

/// The neighbors of a query. `count` is a multiple of sum_lanes.
struct WeighedRow {
    const double* distances;
    const double* masses;
    std::int64_t count;
    double reach; ///< above 0
};

/// Writes m w(u) of each neighbor; returns the sum.
double weigh(SmoothingKernel kernel, const WeighedRow& row, double* weights);
/// Writes m w'(u)/u of each neighbor, of a kernel that has a slope.
void weigh_slopes(SmoothingKernel kernel, const WeighedRow& row, double* weights);
/// The sum of products.
double sum_of_products(const double* a, const double* b, std::int64_t count);

} // namespace kith::detail
