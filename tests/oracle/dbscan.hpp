// DBSCAN by definition: count the points within eps of each point, flood the core points from the lowest index on, and
// look for core points around each other point. The contract is docs/semantics.md, "DBSCAN". Cost: the square of the
// number of points.
#pragma once

#include "oracle/working_copy.hpp"

#include <cstdint>
#include <vector>

namespace kith::oracle {

struct Clusters {
    std::vector<std::int32_t> labels; ///< -1: noise
    std::vector<std::uint8_t> is_core;
    std::vector<std::int32_t> sizes; ///< by label
};

/// eps in the units of the points as given. `star`: border points are noise.
template <class T>
Clusters dbscan(const WorkingCopy<T>& points, double eps, std::int64_t min_samples, bool star);

} // namespace kith::oracle
