// The z-order of two points, straight from the paper's equations 1 to 5 (jz-tree, sections II-A and II-B).
//
// Per axis, the position of the most significant bit in which the two coordinates differ, as if both were written in
// fixed point without end; differing signs count as more significant than any bit. The axis with the most significant
// difference decides, the earlier axis on equality, and there the plain comparison of the two numbers. Coordinates hold
// no -0.0. Cost: d comparisons.
#pragma once

#include "oracle/working_copy.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace kith::oracle {

/// Stands for "no differing bit": below any position.
inline constexpr int no_bit = std::numeric_limits<int>::min();

/// Equation 2: the power of two of the most significant differing bit; max_exponent for differing signs; no_bit for
/// equal numbers.
template <class T>
int most_significant_difference(T a, T b);

/// Equation 3: the axis that decides, or -1 for coincident points.
template <class T>
int deciding_axis(const T* p, const T* q, int dimension);

/// Equation 4, strictly: p comes before q. Coincident points are equivalent.
template <class T>
bool comes_before(const T* p, const T* q, int dimension);

/// Equation 5: the level of the smallest cell that holds both; the smallest integer for coincident points.
template <class T>
std::int64_t level(const T* p, const T* q, int dimension);

/// All points by that order, coincident ones by index.
template <class T>
std::vector<std::int32_t> z_order(const WorkingCopy<T>& points);

} // namespace kith::oracle
