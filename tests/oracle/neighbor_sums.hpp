// Sums over given rows of neighbors, term by term in plain loops: docs/semantics.md, "Sums over neighbors".
#pragma once

#include "oracle/neighbors.hpp"
#include "oracle/working_copy.hpp"

#include <kith/sum_neighbors.hpp>

#include <cstdint>
#include <vector>

namespace kith::oracle {

/// A kernel at u = r/h, unnormalized; w'(u)/u; and the factor that makes its integral 1.
double kernel_value(SmoothingKernel kernel, double u);
double kernel_slope(SmoothingKernel kernel, double u);
double kernel_factor(SmoothingKernel kernel, int dimension);

struct FieldTotals {
    std::vector<double> sum;
    std::vector<double> mean;
    std::vector<double> variance;
    std::vector<double> least;
    std::vector<double> greatest;
    std::vector<double> gradient; ///< of self-searches, row-major
};

struct Totals {
    std::vector<double> density;
    std::vector<double> gradient; ///< of the density, row-major
    std::vector<FieldTotals> fields;
};

/// How terms are added.
enum class Adding {
    in_lanes,      ///< in the order of the row
    without_order, ///< as multiples of a unit
};

/// `queries`: as normalized, row-major; null: the sources themselves. `reach`: the kernel's, of each row.
template <class T>
Totals neighbor_sums(const WorkingCopy<T>& sources, const std::vector<T>* queries, const RaggedRows<T>& rows,
                     const std::vector<double>& reach, SmoothingKernel kernel, Adding adding,
                     const std::vector<double>& masses, const std::vector<std::vector<double>>& fields);

} // namespace kith::oracle
