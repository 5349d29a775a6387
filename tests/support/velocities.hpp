// Velocities for a set of points.
#pragma once

#include "support/point_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::test {

/// Velocities of a few kinds, of size one or so: of a stream, of many with the same, of a lattice, with one outlier.
template <class V>
std::vector<V> velocities_for(std::int64_t count, int dimension, Random& draw) {
    const std::int64_t kind = draw.integer(4);
    std::vector<V> velocities;
    for (std::int64_t i = 0; i < count * dimension; ++i) {
        velocities.push_back(kind == 2 ? static_cast<V>(draw.integer(4) - 2) / 2 : static_cast<V>(draw.normal()));
    }
    for (std::int64_t i = 0; kind == 1 && i < count; ++i) {
        std::copy_n(velocities.begin() + draw.integer(3) % count * dimension, dimension,
                    velocities.begin() + i * dimension);
    }
    if (kind == 3 && count > 0) {
        velocities.front() = V(1e6);
    }
    return velocities;
}

} // namespace kith::test
